"""A table of many runs: reads many traces, with what is kept of them, and joins their runs."""
