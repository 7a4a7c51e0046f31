"""A table of many runs: reads many traces, with what is kept of them, and joins their runs."""


class ScanError(Exception):
    """A scan cannot begin, or cannot go on; a sentence says why."""
