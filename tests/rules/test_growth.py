"""That rules and scores take no longer than a run's length allows, whatever its lines repeat."""

from collections.abc import Callable

import pytest

from drive_trace.analysis import Analysis
from drive_trace.vocabulary import EVENTS
from tests.support.client_text import apart, event, graded
from tests.support.growth import Work, assert_linear
from tests.support.scored import score_of

LINES = 4000
BY_TURNS = {
    "dispatches": ("dispatch-start", "dispatch-end"),
    "rounds": ("round-start", "round-end"),
    "rounds that end first": ("round-end", "brief-issued", "round-start"),
    "slices": ("slice-started", "plan-amended", "slice-completed"),
    "projects": ("project-started", "tokens-recorded", "project-closed"),
}


@pytest.mark.parametrize("names", [*zip(EVENTS), *BY_TURNS.values()], ids=[*EVENTS, *BY_TURNS])
@pytest.mark.parametrize("ids", [apart, str], ids=["apart", "copies"])
def test_the_same_again_and_again(names: tuple[str, ...], ids: Callable[[str], str]) -> None:
    unit = "".join(event(**{"event_type": name, **EVENTS[name].example}) for name in names)

    def prepare(size: int) -> Work:
        text = ids(unit * (size // len(names)))

        def judge() -> None:
            analysis = Analysis(text)
            list(analysis.findings())
            score_of(analysis)

        return judge

    assert_linear(prepare, LINES)


def test_what_was_rewritten_is_put_back() -> None:
    def prepare(size: int) -> Work:
        recorded = apart(graded("pass", "fail", "pass") * size)
        analysis = Analysis(recorded.replace("fail", "pass"), recorded=recorded.split("\n"))
        return lambda: [*map(analysis.fixes, analysis.findings())]

    assert_linear(prepare, LINES)
