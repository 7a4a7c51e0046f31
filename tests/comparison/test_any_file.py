"""Any manifest, and any file of cases."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import assume, example, given
from hypothesis import strategies as st

from drive_trace.comparison.runs import RunManifest
from drive_trace.storage.compared_sides import CaseFile, manifest_beside, read_case_file
from drive_trace.storage.files import Problem
from drive_trace.storage.patterns import is_pattern
from tests.comparison.support import KNOWN
from tests.support.mutating import SPELLINGS, Spelling, changed, garbled, is_toml, spelt
from tests.support.schemas import schema, strict_validator

MANIFEST = {"manifest_version": "1", "case": "x", **KNOWN}
BY_SCHEMA = strict_validator(schema("run-manifest"))
CASES = {"cases": {"easy": ["**/easy/*", "b-1"], "the hard one": ["!a", "c-[12]"]}}
CASES_BY_SCHEMA = strict_validator(
    {
        "type": "object",
        "required": ["cases"],
        "additionalProperties": False,
        "properties": {
            "cases": {
                "type": "object",
                "minProperties": 1,
                "propertyNames": {"maxLength": 200},
                "additionalProperties": {
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "string"},
                },
            }
        },
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any")


def manifest(folder: Path, text: str) -> RunManifest | Problem | None:
    (folder / "trace.run.json").write_text(text, "utf-8")
    return manifest_beside(str(folder / "trace.jsonl"))


def case_file(folder: Path, text: str) -> CaseFile | Problem:
    path = folder / "cases.toml"
    path.write_bytes(text.encode())
    return read_case_file(str(path))


@given(changed(st.just(MANIFEST)), SPELLINGS)
@example({**MANIFEST, "model": None}, Spelling()).via("null is left out")
def test_any_manifest_is_read_as_the_schema_says(folder: Path, data: Any, how: Spelling) -> None:
    assume("\\ud800" not in json.dumps(data))  # which is in no file
    found = manifest(folder, replace(how, numbers=False).of(data))
    assert isinstance(found, RunManifest) == BY_SCHEMA.is_valid(data)
    if isinstance(found, RunManifest):
        assert found.model == data.get("model")
    else:
        assert_told(found)


@given(garbled(spelt(st.just(MANIFEST))))
def test_any_text_is_a_manifest_or_told(folder: Path, text: str) -> None:
    assume("\ud800" not in text)
    found = manifest(folder, text)
    if not isinstance(found, RunManifest):
        assert_told(found)


def assert_told(found: Problem | CaseFile | None) -> None:
    assert isinstance(found, Problem)
    assert found.message.isprintable()
    line, column = found.path.rsplit(":", 2)[1:]
    assert int(line) > 0
    assert int(column) > 0


@given(changed(st.just(CASES)))
def test_any_file_of_cases_is_read_as_it_says(folder: Path, data: Any) -> None:
    assume(isinstance(data, dict) and is_toml(data))
    fits = CASES_BY_SCHEMA.is_valid(data) and all(
        name.strip() and all(each.strip() and is_pattern(each) for each in said)
        for name, said in data["cases"].items()
    )
    found = case_file(folder, tomlkit.dumps(data))
    assert isinstance(found, CaseFile) == fits
    if isinstance(found, CaseFile):
        assert {name: list(said) for name, said in found.cases.items()} == data["cases"]
    else:
        assert_told(found)


@given(garbled(st.just(tomlkit.dumps(CASES))))
def test_any_text_is_a_file_of_cases_or_told(folder: Path, text: str) -> None:
    assume("\ud800" not in text)
    found = case_file(folder, text)
    if not isinstance(found, CaseFile):
        assert_told(found)
