"""A table of many runs: reads many traces, with what is kept of them, and joins their runs."""

DAFT, RAY = "daft", "ray"
"""The engines that a fleet may be read by, besides this machine's processes."""
