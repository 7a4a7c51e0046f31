"""The table as Parquet. Needs the extra ``drive-trace[fleet]``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from drive_trace.report.fleet import Number, Row

_ROWS = 10_000
"""In a group, of which one is in memory."""
_LIMIT = 1 << 63
_TYPES = {
    **dict.fromkeys((str, str | None), pa.string()),
    **dict.fromkeys((int, int | None, Number), pa.int64()),
    float | None: pa.float64(),
    bool: pa.bool_(),
    tuple[str, ...]: pa.list_(pa.string()),
    dict[str, int] | None: pa.map_(pa.string(), pa.int64()),
}
_SCHEMA = pa.schema([(name, _TYPES[hint]) for name, hint in get_type_hints(Row).items()])


def as_parquet(rows: Iterable[Row]) -> Iterator[bytes]:
    """The file, piece by piece. What has more than 64 bits is null: unknown."""
    sink, left = _Sink(), iter(rows)
    with pq.ParquetWriter(sink, _SCHEMA, compression="zstd") as writer:
        while group := list(islice(left, _ROWS)):
            columns = [
                pa.array([_cell(getattr(row, each.name), each.type) for row in group], each.type)
                for each in _SCHEMA
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=_SCHEMA))
            yield sink.take()
    yield sink.take()


def _cell(value: Any, kind: Any) -> Any:
    if isinstance(value, str):  # which may have halves of characters
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, tuple):
        return [_cell(each, kind.value_type) for each in value]
    if isinstance(value, dict):
        return list(value.items())
    if value is not None and kind == pa.int64():
        return int(value) if -_LIMIT <= value < _LIMIT else None
    return value


class _Sink:
    """A file that is taken away piece by piece."""

    closed = False

    def __init__(self) -> None:
        self._written: list[bytes] = []
        self._size = 0

    def write(self, data: Any) -> int:
        self._written.append(bytes(data))
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def take(self) -> bytes:
        data = b"".join(self._written)
        self._written.clear()
        return data
