"""Manifests of runs and files of cases, as people write them and leave them."""

import json
from pathlib import Path

import pytest

from tests.cli.support import run, write
from tests.comparison.support import CORRECT, INCORRECT, SAME, Sides, judged, known
from tests.support.client_text import apart, graded, triage
from tests.support.systems import NO_FIFOS, not_on_windows

ROOT = Path(__file__).parents[2]
MANY = "[cases]\n" + "".join(f"{name} = {['a'] * 1000}\n" for name in "vwxyz")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "1:2: is not JSON: "),
        ('{\n "case": 7}', "2:10: is no manifest of a run: `case` must be a text; found 7"),
        ('{"model": ""}', '1:11: is no manifest of a run: `model` must be a text; found ""'),
        (
            '{"manifest_version": "2"}',
            '1:22: is no manifest of a run: `manifest_version` must be "1"; found "2"',
        ),
        ("[]", "1:1: is no manifest of a run: it must be a table; found"),
        ("[" * 100_000, "1:"),
        ('{"case": "a",\n "case": "b"}', "2:2: a second `case`; keep one"),
        (
            '{"case": "a", "model": NaN}',
            "1:24: is no manifest of a run: `model` must be a text; found nan",
        ),
        ('{"case": 1e999}', "1:10: "),
        ('{"case": "\\ud800"}', "1:1: is no manifest of a run: "),
        ('{"case": "' + "a" * (1 << 20) + '"}', " cannot be read: it has more than 1 MB"),
        ("\0", "1:1: "),
    ],
)
def test_a_broken_manifest_is_told_with_its_place(sides: Sides, text: str, problem: str) -> None:
    path = known(sides, "b").with_name("trace.run.json")
    known(sides, "c")
    path.write_text(text, "utf-8")
    ran = sides.compare("--output-format", "json")
    assert ran.code == 2
    assert ran.json["answer"] == "not-comparable"
    assert f"{path}:{problem}" in ran.err
    assert len(ran.err) < 1000


def test_a_manifest_is_no_link_out_of_its_folder(sides: Sides) -> None:
    path = known(sides, "b").with_name("trace.run.json")
    known(sides, "c", model="opus")
    path.rename(sides.folder / "kept.json")
    path.symlink_to(sides.folder / "kept.json")
    ran = sides.compare()
    assert ran.code == 2
    assert "not read: link out of the repository" in ran.err


def test_a_manifest_may_have_the_whole_name_of_its_trace(sides: Sides) -> None:
    path = known(sides, "b").with_name("trace.run.json")
    known(sides, "c", model="opus")
    path.rename(path.with_name("trace.jsonl.run.json"))
    assert sides.compare().code == 0


def test_two_manifests_of_one_trace_are_one_too_many(sides: Sides) -> None:
    path = known(sides, "b").with_name("trace.run.json")
    known(sides, "c")
    path.with_name("trace.jsonl.run.json").write_text("{}", "utf-8")
    ran = sides.compare()
    assert ran.code == 2
    assert "trace.jsonl.run.json: is a second manifest, beside trace.run.json; keep one" in ran.err


def test_a_file_says_of_which_case_a_run_is(sides: Sides) -> None:
    for side in "bc":
        sides.add(side, CORRECT)
        write(sides.folder / side / "hard" / "1", "trace.jsonl", triage(run=f"{side}-hard"))
    text = '[cases]\nhard = ["**/hard/*"]\neasy = ["b-1", "c-2"]\n'
    path = write(sides.folder, "cases.toml", text)
    found = sides.allowed("--cases", str(path))
    assert [(each["case"], each["baseline"]["correct"]) for each in found["cases"]] == [
        ("easy", 1),
        ("hard", 0),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            'easy = ["*/es-*/**"]\nhard = ["*/hard*/**"]',
            "case `easy` fits no run; correct or remove it",
        ),
        (
            '"e\\u001b" = ["es-*/**"]\nhard = ["b-2"]',
            "cases `e<U+001B>`, `hard` fit no run; correct",
        ),
    ],
)
def test_a_case_that_fits_no_run_is_wrong_usage(sides: Sides, text: str, problem: str) -> None:
    # Simpson: 20 of 24 against 4 of 24 are CORRECT, but in each case all runs of both end alike.
    for side, at in (("b", 20), ("c", 4)):
        easy = (graded(*CORRECT, project_run_id=f"{side}-easy-{each}") for each in range(at))
        hard = (graded(*INCORRECT, project_run_id=f"{side}-hard-{each}") for each in range(24 - at))
        write(sides.folder, f"{side}/easy/trace.jsonl", apart("".join(easy)))
        write(sides.folder, f"{side}/hard/trace.jsonl", apart("".join(hard)))
    path = write(sides.folder, "cases.toml", f"[cases]\n{text}\n")
    ran = sides.compare("--allow-unverified", "--cases", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert f"{path}: {problem}" in ran.err


def test_what_cannot_be_read_is_told_before_a_case_that_fits_no_run(sides: Sides) -> None:
    known(sides, "b")
    write(sides.folder, "c/trace.jsonl", "garbage")
    path = write(sides.folder, "cases.toml", '[cases]\neasy = ["c-1"]\n')
    ran = sides.compare("--cases", str(path), "--output-format", "json")
    assert (ran.code, ran.json["complete"]) == (2, False)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[cases\n", "1:7: is not TOML: "),
        ("", "1:1: `cases` is missing here"),
        (
            "[cases]\nx = 1\n",
            "2:5: `x` must be an array of at least one pattern as in .gitignore, or a run's id;",
        ),
        ("[cases]\n", "1:2: `cases` must be a table with at least one key; found an empty table"),
        ('[cases]\nx = ["a", "!"]\n', "2:11: an item must be a pattern as in .gitignore"),
        (MANY, "1:1: all cases have more than 4,000 patterns"),
        ("a = " + "[" * 100 + "]" * 100, "1:37: "),
    ],
)
def test_a_broken_file_of_cases_is_told_with_its_place(
    sides: Sides, text: str, problem: str
) -> None:
    known(sides, "b")
    known(sides, "c")
    path = write(sides.folder, "cases.toml", text)
    ran = sides.compare("--cases", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert f"{path}:{problem}" in ran.err


@not_on_windows(NO_FIFOS)
def test_a_pipe_is_neither_a_manifest_nor_a_file_of_cases(sides: Sides) -> None:
    import os

    path = known(sides, "b").with_name("trace.run.json")
    known(sides, "c")
    path.unlink()
    os.mkfifo(path)
    assert "it is a pipe or a device, not a file" in sides.compare().err
    assert "it is a pipe or a device, not a file" in sides.compare("--cases", str(path)).err


def test_the_manifest_has_a_schema() -> None:
    import jsonschema

    schema = json.loads(Path(ROOT, "schemas/run-manifest.schema.json").read_text("utf-8"))
    jsonschema.validate(SAME, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"case": ""}, schema)


def test_a_run_that_left_nothing_is_not_correct(sides: Sides) -> None:
    # 16 of 16 against 8 of 16, and 24 more were started: 16 of 40.
    for at in range(16):
        known(sides, "b", model="opus")
        known(sides, "c")
        if at % 2:
            trace = sides.folder / "b" / f"b-{2 * at + 1}" / "trace.jsonl"
            text = trace.read_text("utf-8").replace('"intent":"pass"', '"intent":"fail"')
            trace.write_text(text, "utf-8")
            judged(trace, "fail")
    said = json.dumps({key: SAME[key] for key in ("case", "base_commit", "model", "bundle")})
    good = sides.folder / "c" / "c-2" / "trace.jsonl"
    for at in range(24):
        manifest = write(sides.folder / "c" / f"dead-{at}", "trace.run.json", said)
        trace = manifest.with_name("trace.jsonl")
        match at % 6:
            case 1 | 2 | 3:
                trace.write_text({1: "", 2: "\n", 3: '{"a":1}\n'}[at % 6], "utf-8")
            case 4:
                trace.write_bytes(good.read_bytes())
            case 5:
                text = good.read_text("utf-8")
                trace.write_text(text.replace(good.parent.name, f"copy-{at}"), "utf-8")
    # What was excluded is nobody's, and what stands in a library.
    vendored = known(sides, "c", model="opus").parent.name
    excluded = "--exclude", vendored, "--exclude", "hidden"
    for each in (f"{vendored}/1", ".old/hidden", "node_modules/x"):
        write(sides.folder / "c" / each, "trace.run.json", said)
    found = sides.json(*excluded)
    gate = found["gate"]
    assert [(gate[side]["correct"], gate[side]["k"]) for side in ("baseline", "candidate")] == [
        (8, 16),
        (16, 40),
    ]
    assert found["answer"] == "cannot-tell"
    assert "24 runs of the candidate are without an event, and taken for not CORRECT" in " ".join(
        sides.compare(*excluded).out.split()
    )


def test_a_run_whose_trace_is_a_link_to_another_is_not_correct(sides: Sides) -> None:
    known(sides, "b")
    good = known(sides, "c")
    manifest = write(sides.folder / "c" / "linked", "trace.run.json", json.dumps(SAME))
    manifest.with_name("trace.jsonl").symlink_to(good)
    found = sides.allowed()["gate"]["candidate"]
    assert (found["correct"], found["k"]) == (1, 2)


@pytest.mark.parametrize("text", ["", "\n", '{"a":1}\n'])
def test_a_trace_without_an_event_that_is_named_is_a_run_by_its_manifest(
    sides: Sides, text: str
) -> None:
    base, good = known(sides, "b"), known(sides, "c")
    manifest = write(sides.folder / "c" / "dead", "trace.run.json", json.dumps(SAME))
    dead = write(manifest.parent, "trace.jsonl", text)
    for named in ([good, dead], [good.parent, dead], [good.parents[1], dead]):
        paths = [part for each in named for part in ("--candidate", each)]
        ran = run("compare", "--baseline", base, *paths, "--output-format", "json")
        assert (ran.json["gate"]["candidate"]["correct"], ran.json["gate"]["candidate"]["k"]) == (
            1,
            2,
        )


@pytest.mark.parametrize(
    ("folder", "text", "reason"),
    [("dead", "{", "is not JSON"), (".old", "{}", "in a hidden folder")],
)
def test_a_manifest_that_is_not_read_leaves_no_answer(
    sides: Sides, folder: str, text: str, reason: str
) -> None:
    known(sides, "b")
    known(sides, "c")
    write(sides.folder / "c" / folder, "trace.run.json", text)
    ran = sides.compare("--allow-unverified")
    assert ran.code == 2
    assert reason in " ".join((ran.out + ran.err).split())
    assert "better" not in ran.out
