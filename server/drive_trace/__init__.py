"""Drive Trace: validates Drive ``trace.jsonl`` files line by line and scores their runs.

``docs/python-api.md`` says what Python programs can call.
"""

TYPE_CHECKING = False  # as type checkers know it: importing typing takes a while
if TYPE_CHECKING:
    from drive_trace.library import (
        InvalidLine,
        TraceEvent,
        TraceFile,
        UnreadableError,
        compare,
        read,
        score,
    )

__version__ = "0.1.0"
__all__ = ["InvalidLine", "TraceEvent", "TraceFile", "UnreadableError", "compare", "read", "score"]


def __getattr__(name: str) -> object:
    # Commands load what they need, and none needs pydantic.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from drive_trace import library  # noqa: PLC0415 - see above

    return getattr(library, name)
