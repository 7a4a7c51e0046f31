"""How fast the parsing libraries alone are: a loop over the lines of a file in memory."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING, Any

import orjson

from tests.bench.floor_types import msgspec_decoder, pydantic_adapter
from tests.bench.table import Heading, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class OrjsonLoop:
    """THE unit: `orjson.loads` of each line of a file, in milliseconds.

    It is sampled again beside everything that is compared with it, as a machine's speed changes.
    """

    def __init__(self, lines: Sequence[bytes]) -> None:
        self.lines = lines
        self.samples: list[float] = []

    def sample(self) -> float:
        """Measure once more; the milliseconds."""
        loads, refused = orjson.loads, 0
        started = time.perf_counter()
        for line in self.lines:
            try:
                loads(line)
            except ValueError:
                refused += 1
        self.samples.append((time.perf_counter() - started) * 1000)
        return self.samples[-1]


def measure_floors(unit: OrjsonLoop, clean: Sequence[bytes], repeats: int) -> list[Row | Heading]:
    """The unit, and on the clean file what reading into typed values costs at least."""
    validator = pydantic_adapter()

    def orjson_and_pydantic(line: bytes) -> Any:
        return validator.validate_python(orjson.loads(line))

    floors: dict[str, Callable[[bytes], Any]] = {
        "orjson.loads, clean file": orjson.loads,
        "msgspec, tagged union of structs": msgspec_decoder().decode,
        "orjson + pydantic TypedDict union": orjson_and_pydantic,
        "pydantic TypedDict union, validate_json": validator.validate_json,
    }
    samples: dict[str, list[float]] = {name: [] for name in floors}
    for _ in range(repeats):
        unit.sample()
        for name, parse in floors.items():
            gc.collect()
            samples[name].append(_loop(parse, clean))
    rows = [Row("orjson.loads, 1 % defects", unit.samples, notes="the unit of the ratios below")]
    rows += [Row(name, each, base=unit.samples) for name, each in samples.items()]
    return [Heading(f"floors, {len(clean):,} lines in memory"), *rows]


def _loop(parse: Callable[[bytes], Any], lines: Sequence[bytes]) -> float:
    started = time.perf_counter()
    for line in lines:
        parse(line)
    return (time.perf_counter() - started) * 1000
