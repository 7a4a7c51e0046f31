"""Code actions: the fixes of the findings that a range touches."""

import pytest
from lsprotocol import types

from drive_trace.text.spans import PositionEncoding
from tests.support.fixtures import (
    actions_in,
    apply_edits,
    check_actions,
    check_fix,
    edits_of,
    read,
    trace,
)

SLIP = 'EVENT{"event_type":"correctness-recorded","qa":"passed"}'
EVERYTHING = types.Range(types.Position(0, 0), types.Position(10_000, 0))


def test_a_slip_is_replaced() -> None:
    fixture = 'EVENT{"event_type":"correctness-recorded","qa":"pass$0ed"}'
    assert check_actions(fixture) == ['Replace with "pass"']
    check_fix(fixture, 'EVENT{"event_type":"correctness-recorded","qa":"pass"}')


def test_a_missing_field_is_put_in_alone_or_with_all_others() -> None:
    fixture = 'EVENT{"event_type":"correctness-$0recorded","qa":<absent>,"intent":<absent>}'
    assert check_actions(fixture) == [
        "Insert both fields as null",
        "Insert `qa`: null",
        "Insert `intent`: null",
    ]
    check_fix(
        fixture,
        'EVENT{"event_type":"correctness-recorded","qa":null,"intent":<absent>}',
        title="Insert `qa`: null",
    )
    check_fix(
        fixture,
        'EVENT{"event_type":"correctness-recorded","qa":null,"intent":null}',
        title="Insert both fields as null",
    )


def test_a_misspelt_key_is_renamed_and_an_undeclared_field_deleted() -> None:
    fixture = 'EVENT{"event_type":"slice-started","linear_ref":<absent>,"linear$0Ref":"SHOP-214"}'
    assert check_actions(fixture) == ["Rename to `linear_ref`"]
    check_fix(fixture, 'EVENT{"event_type":"slice-started","linear_ref":"SHOP-214"}')
    fixture = 'EVENT{"event_type":"slice-started","linear$0Ref":"SHOP-214"}'
    assert check_actions(fixture) == ["Delete `linearRef`"]
    check_fix(fixture, 'EVENT{"event_type":"slice-started"}')


def test_all_misspelt_keys_of_a_line_are_renamed_at_once() -> None:
    fixture = (
        'EVENT{"event_type":"slice-started","ts":<absent>,"linear_ref":<absent>,"linearRef":null,'
        '"time$0stamp":"2026-05-28T14:00:00.000Z"}'
    )
    titles = ["Rename both keys: `linear_ref` and `ts`", "Rename to `ts`"]
    assert check_actions(fixture) == titles


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"x":1,"a":2}', '{"a":2}'),
        ('{"a":2,"x":1}', '{"a":2}'),
        ('{ "x" : 1 , "a" : 2 }', '{ "a" : 2 }'),
        ('{ "a" : 2 , "x" : 1 }', '{ "a" : 2 }'),
        ('{"a":{"x":1},"x":[1,{"b":","}]}', '{"a":{"x":1}}'),
        ('{"a":2 , "x":"}" }', '{"a":2 }'),
        ('{"a":"x","b":"\\"x\\":1","x":1,"c":0}', '{"a":"x","b":"\\"x\\":1","c":0}'),
        (r'{"\u0078":1,"a":2}', '{"a":2}'),
    ],
)
def test_deleting_a_pair_leaves_the_commas_right(before: str, after: str) -> None:
    event = trace('EVENT{"event_type":"project-closed"}').rstrip("}\n")
    text = f"{event},{before[1:]}\n"
    action = next(each for each in actions_in(text, EVERYTHING) if each.title == "Delete `x`")
    fixed = apply_edits(text, edits_of(action), PositionEncoding.UTF16)
    assert fixed == f"{event},{after[1:]}\n"


def test_in_a_wide_selection_all_actions_are_offered_by_where_they_stand() -> None:
    text = trace(SLIP, 'EVENT{"event_type":"project-closed"}', SLIP.replace("passed", "failed"))
    titles = [action.title for action in actions_in(text, EVERYTHING)]
    assert titles == ['Replace with "pass"', 'Replace with "fail"']


def test_a_line_with_very_many_findings_has_the_actions_of_the_first_hundred() -> None:
    extra = "".join(f',"k{number}":1' for number in range(1000))
    text = trace('EVENT{"event_type":"correctness-recorded"}').rstrip()[:-1] + extra + "}\n"
    titles = [action.title for action in actions_in(text, EVERYTHING)]
    assert titles == [f"Delete `k{number}`" for number in range(100)]


@pytest.mark.parametrize(
    "fixture",
    [
        'EVENT{"event_type":"correctness-recorded","qa":$0"passed"}',
        'EVENT{"event_type":"correctness-recorded","qa":"passed"$0}',
    ],
)
def test_the_cursor_may_stand_at_either_end_of_the_token(fixture: str) -> None:
    assert check_actions(fixture) == ['Replace with "pass"']


@pytest.mark.parametrize(
    "fixture",
    [
        'EVENT{"event_type":"correctness-recorded","qa$0":"passed"}',
        """
        EVENT{"event_type":"correctness-recorded","qa":"passed"}
        $0EVENT{"event_type":"project-closed"}
        """,
        'EVENT{"event_type":"slice-completed","result":"pr-$0opened"}',
        'EVENT{"event_type":"slice-completed","result":"mer$0ged"}',
    ],
)
def test_elsewhere_nothing_is_offered(fixture: str) -> None:
    assert check_actions(fixture) == []


@pytest.mark.parametrize(
    ("only", "offered"),
    [
        (None, True),
        ([], False),
        (["quickfix"], True),
        ([""], True),
        (["refactor", "quickfix"], True),
        (["refactor"], False),
        (["source"], False),
        (["source.fixAll"], False),
        (["quickfix.other"], False),
        ([types.CodeActionKind.QuickFix], True),
        ([types.CodeActionKind.SourceFixAll], False),
    ],
)
def test_a_client_can_ask_for_kinds(only: list[str] | None, offered: bool) -> None:
    fixture = 'EVENT{"event_type":"correctness-recorded","qa":"pass$0ed"}'
    assert check_actions(fixture, only=only) == ['Replace with "pass"'] * offered


def test_what_is_safe_or_puts_in_all_fields_is_preferred_but_for_feeds() -> None:
    lacking = (
        'EVENT{"event_type":"slice-started","linear_ref":<absent>,"linearRef":null,"ts":<absent>'
    )
    actions = actions_in(trace(lacking + ',"slice_index":<absent>}'), EVERYTHING)
    assert [(each.title, each.is_preferred) for each in actions] == [
        ("Insert both fields, 2 of them to be filled in", True),
        ("Insert `ts`, to be filled in", False),
        ("Insert `slice_index`, to be filled in", False),
        ("Rename to `linear_ref`", False),
    ]
    graded = 'EVENT{"event_type":"correctness-recorded","qa":<absent>,"intent":<absent>}'
    assert not any(each.is_preferred for each in actions_in(trace(graded), EVERYTHING))
    assert {each.kind for each in actions} == {types.CodeActionKind.QuickFix}
    dead = read('EVENT{"event_type":"slice-started","linear_ref":null}').text
    (action,) = actions_in(dead.replace('{"', '{"linear_ref":null,"', 1), EVERYTHING)
    assert (action.title, action.is_preferred) == ("Delete the dead `linear_ref`", True)


def test_an_action_names_the_diagnostic_that_it_mends() -> None:
    text = trace(SLIP)
    start = text.index('"passed"')
    where = types.Range(types.Position(0, start), types.Position(0, start + 8))
    same = types.Diagnostic(range=where, message="", code="unknown-value")
    other = types.Diagnostic(range=where, message="", code="wrong-type")
    elsewhere = types.Diagnostic(
        range=types.Range(types.Position(0, 0), types.Position(0, 1)),
        message="",
        code="unknown-value",
    )
    (action,) = actions_in(text, EVERYTHING, diagnostics=[other, same, elsewhere])
    assert action.diagnostics == [same]
    (action,) = actions_in(text, EVERYTHING, diagnostics=[other])
    assert action.diagnostics is None


def test_a_range_beyond_the_end_is_no_question() -> None:
    far = types.Range(types.Position(99, 7), types.Position(99, 9))
    assert actions_in(trace(SLIP), far) == []


def test_an_object_over_several_lines_is_joined_from_each_of_them() -> None:
    pretty = '{\n  "event_type": "slice-started",\n  "a": [\n    1\n  ]\n}'
    text = f"{pretty}\n{pretty}\n"
    height = pretty.count("\n") + 1
    for line in range(2 * height):
        here = types.Position(line, 1)
        first = line // height * height + 1
        assert [each.title for each in actions_in(text, types.Range(here, here))] == [
            f"Join lines {first}–{first + height - 1} into one"
        ]
    assert len(actions_in(text, EVERYTHING)) == 2


def test_the_fix_of_an_object_over_several_lines_belongs_to_its_diagnostic() -> None:
    text = '{\n  "event_type": "slice-started"\n}\n'
    whole = types.Range(types.Position(0, 0), types.Position(2, 1))
    shown = types.Diagnostic(whole, "an object over several lines", code="invalid-json")
    here = types.Range(types.Position(1, 4), types.Position(1, 4))
    (action,) = actions_in(text, here, diagnostics=[shown])
    assert action.diagnostics == [shown]
