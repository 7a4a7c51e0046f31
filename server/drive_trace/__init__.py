"""Drive Trace: validates Drive ``trace.jsonl`` files line by line and scores their runs."""

__version__ = "0.1.0"
