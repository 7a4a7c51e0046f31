"""Events in short, and the cards of traces that are made of them."""

import json
from itertools import product
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from drive_trace.analysis import Analysis
from drive_trace.scorecard.card import ScoreCard, score, to_json
from drive_trace.scorecard.render import run_card
from drive_trace.scorecard.run_score import RunScore
from drive_trace.scorecard.scoring import score_in, summarize
from drive_trace.text.document import as_markdown
from tests.support.fixtures import dumps, trace
from tests.support.scored import summarize_text

TRIPLES = list(product(("pass", "fail", None), repeat=3))


def event(event_type: object, run: str | None = "checkout-retry", **fields: object) -> str:
    """An event in short: the vocabulary's example with fields changed, and with an id that only
    what says the same has.
    """
    pairs = {"event_type": event_type, "project_run_id": run, **fields}
    event_id = str(uuid5(NAMESPACE_OID, repr(pairs)))
    return "EVENT" + dumps({"event_id": event_id, **pairs})


def graded(mechanical: object, qa: object, intent: object, **fields: Any) -> str:
    return event("correctness-recorded", mechanical=mechanical, qa=qa, intent=intent, **fields)


def card_of(*traces: str) -> ScoreCard:
    """The card of traces called a.jsonl, b.jsonl, …; each way of reading them must agree."""
    paths = [f"{chr(ord('a') + number)}.jsonl" for number in range(len(traces))]
    card = score([summarize_text(each, path) for each, path in zip(traces, paths, strict=True)])
    slowly = score(
        [summarize(Analysis(each).index, path) for each, path in zip(traces, paths, strict=True)]
    )
    assert card == slowly
    return card


def run_of(*lines: str) -> RunScore:
    """The one run of a trace of these events."""
    (run,) = card_of(trace(*lines)).runs
    assert score_in(Analysis(trace(*lines)).index, run.run_id, "a.jsonl") == run
    return run


PASSED = graded("pass", "pass", "pass")


def json_of(card: ScoreCard) -> Any:
    """The card as a program reads it."""
    return json.loads(json.dumps(to_json(card)))


def card_markdown(run: RunScore) -> str:
    """The card of a run, as hovers show it."""
    return as_markdown(run_card(run))
