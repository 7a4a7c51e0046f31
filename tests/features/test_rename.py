"""Renaming: another id for a run, a slice, a dispatch or a round, wherever the trace names it."""

import pytest

from drive_trace.vocabulary import EVENTS
from tests.support.changing import can_rename, check_no_rename, check_rename

START = 'EVENT{"event_type":"dispatch-start","dispatch_id":"d1"}'


RENAMED = {
    "a dispatch is renamed in its run and where it is resumed": (
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d1"}
        EVENT{"event_type":"round-start","dispatch_id":"d$01","round_id":"d1"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"d2","parent_dispatch_id":"d1"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","parent_dispatch_id":"d1"}
        """,
        "new",
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"new"}
        EVENT{"event_type":"round-start","dispatch_id":"new","round_id":"d1"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"d2","parent_dispatch_id":"new"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","parent_dispatch_id":"new"}
        """,
    ),
    "another run may have a dispatch of that id": (
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"$0d1"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","dispatch_id":"d1"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","parent_dispatch_id":"d1"}
        """,
        "d2",
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d2"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","dispatch_id":"d1"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","parent_dispatch_id":"d1"}
        """,
    ),
    "from where a dispatch is resumed": (
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d1"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","parent_dispatch_id":"d1$0"}
        """,
        "d9",
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d9"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","parent_dispatch_id":"d9"}
        """,
    ),
    "from a broken line": (
        """
        EVENT{"event_type":"slice-started","slice_slug":"a"}
        EVENT{"event_type":"slice-completed","slice_slug":"a$0",}
        """,
        "b",
        """
        EVENT{"event_type":"slice-started","slice_slug":"b"}
        EVENT{"event_type":"slice-completed","slice_slug":"b",}
        """,
    ),
    "a line whose run cannot be read": (
        """
        EVENT{"event_type":"slice-started","slice_slug":"a$0"}
        {"event_type":"slice-completed","slice_slug":"a"
        """,
        "b",
        """
        EVENT{"event_type":"slice-started","slice_slug":"b"}
        {"event_type":"slice-completed","slice_slug":"b"
        """,
    ),
    "where a dispatch that nothing starts is resumed": (
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d1","parent_dispatch_id":"d$00"}
        EVENT{"event_type":"made-up","parent_dispatch_id":"d0"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","parent_dispatch_id":"d0"}
        """,
        "d9",
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d1","parent_dispatch_id":"d9"}
        EVENT{"event_type":"made-up","parent_dispatch_id":"d9"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","parent_dispatch_id":"d9"}
        """,
    ),
    "another run may have the new id": (
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"$0d1"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","dispatch_id":"d2"}
        """,
        "d2",
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d2"}
        EVENT{"event_type":"dispatch-start","project_run_id":"b","dispatch_id":"d2"}
        """,
    ),
    "a run with text beyond the bmp before and in it": (
        r"""
        EVENT{"event_type":"project-started","event_id":"🚀","project_run_id":"日$0🚀本"}
        EVENT{"event_type":"project-closed","event_id":"é","project_run_id":"日\ud83d\ude80本"}
        EVENT{"event_type":"project-closed","project_run_id":"日"}
        """,
        '"new" \\ 🚀',
        r"""
        EVENT{"event_type":"project-started","event_id":"🚀","project_run_id":"\"new\" \\ 🚀"}
        EVENT{"event_type":"project-closed","event_id":"é","project_run_id":"\"new\" \\ 🚀"}
        EVENT{"event_type":"project-closed","project_run_id":"日"}
        """,
    ),
    "a key that stands twice": (
        """
        EVENT{"event_type":"slice-started","slice_slug":"a","slice_slug":"$0a"}
        EVENT{"event_type":"slice-started","slice_slug":"b","slice_slug":"a"}
        """,
        "c",
        """
        EVENT{"event_type":"slice-started","slice_slug":"c","slice_slug":"c"}
        EVENT{"event_type":"slice-started","slice_slug":"b","slice_slug":"c"}
        """,
    ),
    "from right behind an id": (
        'EVENT{"event_type":"dispatch-start","dispatch_id":"d1"$0}',
        "d2",
        'EVENT{"event_type":"dispatch-start","dispatch_id":"d2"}',
    ),
    "the same name changes nothing": (START.replace("d1", "$0d1"), "d1", START),
}


@pytest.mark.parametrize("case", RENAMED)
def test_a_new_id_stands_wherever_the_old_one_did(case: str) -> None:
    check_rename(*RENAMED[case])


@pytest.mark.parametrize("field", ["round_id", "dispatch_id"])
def test_a_broken_line_is_renamed_as_far_as_its_text_shows(field: str) -> None:
    check_rename(
        f"""
        EVENT{{"event_type":"round-start","{field}":"x$01"}}
        EVENT{{"event_type":"round-end","{field}":"x1","verdict":}}
        EVENT{{"event_type":"round-end","verdict":satisfied,"{field}" : "x1"
        {{"event_type":"round-end","payload":{{"{field}":"x1"}}}}
        EVENT{{"event_type":"made-up","{field}":"x1","note":"x1"}}
        """,
        "x2",
        f"""
        EVENT{{"event_type":"round-start","{field}":"x2"}}
        EVENT{{"event_type":"round-end","{field}":"x2","verdict":}}
        EVENT{{"event_type":"round-end","verdict":satisfied,"{field}" : "x2"
        {{"event_type":"round-end","payload":{{"{field}":"x2"}}}}
        EVENT{{"event_type":"made-up","{field}":"x2","note":"x1"}}
        """,
    )


def test_two_are_never_made_one() -> None:
    reason = check_no_rename(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"d$01"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"d2",}
        """,
        "d2",
    )
    assert reason == (
        'Line 2 names a dispatch "d2" already: renaming this dispatch would make the two one.'
    )
    runs = """
        EVENT{"event_type":"project-started","project_run_id":"a$0"}
        EVENT{"event_type":"project-started","project_run_id":"b"}
        """
    assert check_no_rename(runs, "b").startswith('Line 2 names a run "b" already')


@pytest.mark.parametrize("name", ["", " ", "\t"])
def test_an_id_is_not_blank(name: str) -> None:
    reason = check_no_rename(START.replace("d1", "$0d1"), name)
    assert reason == "A dispatch needs an id of at least one character."


@pytest.mark.parametrize(
    "fixture",
    [
        "$0",
        'EVENT{"event_type":"dispatch-start","parent_dispatch_id":nu$0ll}',
        'EVENT{"event_type":"dispatch-$0start"}',
        'EVENT{"event_type":"dispatch-start","dispatch_$0id":"d1"}',
        'EVENT{"event_type":"dispatch-start","dispatch_name":"d$01"}',
        'EVENT{"event_type":"dispatch-start","extra":{"dispatch_id":"d$01"}}',
        '{"event_type":"dispatch-start","dispatch_id":$0',
    ],
)
def test_elsewhere_nothing_is_renamed(fixture: str) -> None:
    assert not can_rename(fixture)
    assert check_no_rename(fixture).startswith("Only the ids of runs, slices, dispatches")


def test_every_field_that_names_such_a_thing_can_be_renamed() -> None:
    for event in EVENTS.values():
        for field in event.fields.values():
            if field.names in ("run", "dispatch", "round", "slice"):
                pair = f'"{field.name}":"$0x"'
                assert can_rename(f'EVENT{{"event_type":"{event.name}",{pair}}}')
