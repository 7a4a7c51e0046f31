"""What is behind :mod:`drive_trace.features.hover`: what is to be said, by what is pointed at."""
