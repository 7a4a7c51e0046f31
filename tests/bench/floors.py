"""How fast the parsing libraries alone are: a loop over the lines of a file in memory."""

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from drive_trace.trace.typed import event_decoder
from tests.bench.table import Heading, Row


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
    """The unit, and on the clean file what reading into the product's own types costs at least."""
    floors: dict[str, Callable[[bytes], Any]] = {
        "orjson.loads, clean file": orjson.loads,
        "msgspec, tagged union of structs": event_decoder(only_score=False).decode,
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
