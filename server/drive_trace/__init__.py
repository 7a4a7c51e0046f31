"""Drive Trace: validates Drive ``trace.jsonl`` files line by line and scores their runs.

``docs/python-api.md`` says what Python programs can call.
"""

TYPE_CHECKING = False  # as type checkers know it: importing typing takes a while
if TYPE_CHECKING:
    from drive_trace.library import InvalidLine, TraceFile, UnreadableError, compare, read, score
    from drive_trace.vocabulary.declared import TraceEvent

__version__ = "0.1.0"
__all__ = ["InvalidLine", "TraceEvent", "TraceFile", "UnreadableError", "compare", "read", "score"]


def __getattr__(name: str) -> object:
    # Each loads what it needs: pydantic only the type of events.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - commands need none of these

    module = "vocabulary.declared" if name == "TraceEvent" else "library"
    return getattr(import_module(f"drive_trace.{module}"), name)
