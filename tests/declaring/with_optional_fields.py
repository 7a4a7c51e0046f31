"""What users see of optional fields; `test_fields.py` runs this on a copy that declares some:
`retro-landed` has `note`, a string, and `retries`, which is kept; a plan's sizes have `XXL`.
"""

import json
from pathlib import Path

import pytest
from tools.generate import events_reference
from tools.json_schemas import event_schema

import drive_trace
from drive_trace.trace.reading import read_lines
from drive_trace.vocabulary import EVENTS
from tests.cli.support import run, write
from tests.support.completing import PLAIN, check_completion, labels, offered
from tests.support.fixtures import check_findings, check_fix, check_hover, read

SIZES = '"dispatch_size_distribution":{"S":3,"M":3,"L":0,"XL":0'


def test_the_copy_is_read() -> None:
    assert "site-packages" not in drive_trace.__file__
    assert not EVENTS["retro-landed"].fields["note"].is_required


@pytest.mark.parametrize(
    ("pairs", "retries"),
    [
        ("", None),
        (',"note":"slow"', None),
        (',"note":"slow","retries":2', 2),
        (',"retries":2.0', 2),
    ],
)
def test_a_line_is_clean_with_them_and_without(pairs: str, retries: int | None) -> None:
    text = read(f'EVENT{{"event_type":"retro-landed"{pairs}}}').text
    check_findings(text)
    (line,) = read_lines(text.splitlines())
    assert line.fact("retries") == retries
    (scored,) = read_lines(text.splitlines(), only_score=True)
    assert scored.event is line.event


def test_objects_may_have_them() -> None:
    check_findings(f'EVENT{{"event_type":"plan-authored",{SIZES}}}}}')
    check_findings(f'EVENT{{"event_type":"plan-authored",{SIZES},"XXL":0}}}}')


def test_what_stands_in_them_is_validated() -> None:
    check_findings(
        """
        EVENT{"event_type":"retro-landed","note":null}
                                                 ^^^^ wrong-type: a string, or left out
        EVENT{"event_type":"retro-landed","retries":-1}
                                                    ^^ out-of-range: at least 0, or left out
        EVENT{"event_type":"retro-landed","nate":"slow"}
                                          ^^^^^^ undeclared-field: did you mean `note`?
        """
    )


def test_a_payload_is_flattened_with_them() -> None:
    check_fix(
        'EVENT{"event_type":"retro-landed","is_mandatory_final":<absent>,'
        '"da$0ta":{"is_mandatory_final":true,"note":"slow"}}',
        'EVENT{"event_type":"retro-landed","is_mandatory_final":true,"note":"slow"}',
        "Flatten `data`",
    )
    check_findings(
        """
        EVENT{"event_type":"retro-landed","data":{"note":"slow"}}
                                          ^^^^^^ undeclared-field
        """
    )


def test_completion_offers_them_last_and_never_with_a_whole_event() -> None:
    names = labels('{"event_type":"retro-landed",$0}')
    assert names[-2:] == ["note", "retries"]
    assert "all 8 missing fields" in names
    check_completion(
        'EVENT{"event_type":"retro-landed",$0}',
        "retries",
        'EVENT{"event_type":"retro-landed","retries":${1:count}}',
    )
    (whole,) = (each for each in offered("$0", PLAIN) if each.label == "retro-landed")
    assert '"is_mandatory_final":null}' in whole.text_edit.new_text


def test_hover_says_that_they_may_be_left_out() -> None:
    said = check_hover('EVENT{"event_type":"retro-landed","no$0te":"slow"}')
    assert said is not None
    assert "What was said last." in said
    assert "*a string, or left out*" in said


def test_schema_and_docs_say_so() -> None:
    schema = event_schema(EVENTS["retro-landed"])
    assert schema["properties"]["note"]["type"] == "string"
    assert {"note", "retries"}.isdisjoint(schema["required"])
    row = "| `note` | a string, or left out | What was said last. |"
    assert row in events_reference().splitlines()


@pytest.mark.parametrize("more", [{}, {"note": "slow"}, {"retries": 2}])
def test_events_are_appended_with_them_and_without(tmp_path: Path, more: dict[str, object]) -> None:
    path = write(tmp_path, "trace.jsonl", "")
    payload = {
        "trigger_class": "drift-event",
        "landing_surfaces": [],
        "is_mandatory_final": False,
        **more,
    }
    target = ("--trace-file", path, "--project-run-id", "run-1", "--event", "retro-landed")
    assert run("emit", *target, "--payload", json.dumps(payload)).code == 0
    event = json.loads(path.read_text())
    assert {name: event[name] for name in event if name in payload} == payload
    assert run("report", path).code == 0
