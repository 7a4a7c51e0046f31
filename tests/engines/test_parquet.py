"""The table as Parquet: what the other tables say, with types that do not depend on the rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import run, write
from tests.cli.test_fleet import FIRST, write_fleet
from tests.support.client_text import triage

pq = pytest.importorskip(
    "pyarrow.parquet", reason="needs the extra drive-trace[fleet]: see make fleet-test"
)


def as_json(row: dict[str, Any]) -> dict[str, Any]:
    """A row of Parquet as JSON Lines have it."""
    found = row["findings"]
    return row | {"findings": None if found is None else dict(found)}


def made(folder: Path) -> Any:
    out = folder.parent / "runs.parquet"
    assert run("fleet", folder, "--findings", "--no-cache", "--out", out).code == 0
    return pq.read_table(out)


def test_rows_are_those_of_json_lines(tmp_path: Path) -> None:
    write_fleet(tmp_path / "in")
    rows = [as_json(each) for each in made(tmp_path / "in").to_pylist()]
    ran = run("fleet", tmp_path / "in", "--findings", "--no-cache", "--out", "-")
    expected = [json.loads(line) for line in ran.out.splitlines()]
    odd = expected.pop()
    assert rows[:-1] == expected
    assert rows[-1]["run_id"] == "odd \\ud800"  # half a character is none of UTF-8
    assert odd["input_tokens"] == float(9**30)
    assert rows[-1]["input_tokens"] is None  # as it has more than 64 bits
    assert {each["findings"] is not None for each in rows} == {True}


def test_types_do_not_depend_on_rows(tmp_path: Path) -> None:
    tables = []
    for name, text in {"empty": b"", "poor": triage()}.items():
        write(tmp_path, f"{name}/in/trace.jsonl", text)
        tables.append(made(tmp_path / name / "in"))
    write_fleet(tmp_path / "full/in")
    tables.append(made(tmp_path / "full/in"))
    assert [table.num_rows for table in tables][:2] == [0, 1]
    schemas = [table.schema for table in tables]
    assert schemas[0] == schemas[1] == schemas[2]
    assert schemas[0].names[: len(FIRST)] == FIRST
    assert {str(schemas[0].field(name).type) for name in FIRST} == {"string", "int64"}
    assert str(schemas[0].field("findings").type).startswith("map<string, int64")
