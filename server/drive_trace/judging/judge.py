"""Asking a judge until there is a verdict, or a reason why there is none."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from drive_trace.grading.answers import Answer, NoAnswer, read_answer
from drive_trace.grading.prompts import CANNOT_TELL, Prompt
from drive_trace.judging.models import Model, ModelError, Reply, ask

_ATTEMPTS = 2
"""A malformed reply is asked for once more."""
INTENT = "intent"
VERDICTS = ("pass", "fail")


class Call(NamedTuple):
    """One call of the model."""

    reply: Reply | None
    """None where there was none."""
    answer: Answer | NoAnswer
    repeat: int
    """From 1."""
    attempt: int
    """From 1."""


class Outcome(NamedTuple):
    """What the calls come to."""

    verdict: str | None
    """None where there is none; then ``why`` says so."""
    reasons: tuple[str, ...]
    """Of the last call, on which the grade rests. Untrusted."""
    why: str | None


def judge(
    model: Model,
    render: Callable[[str], Prompt],
    *,
    repeat: int = 1,
    notify: Callable[[str], object] = lambda _: None,
    noted: Callable[[Call], object] = lambda _: None,
) -> Outcome:
    """Ask ``repeat`` times; only a unanimous verdict is one. ``render`` makes the prompt with a
    nonce, which is new for each call. Each call is ``noted`` as it ends.
    """
    calls: list[Call] = []
    for number in range(1, repeat + 1):
        for call in attempts(model, render, _verdict, repeat=number, notify=notify):
            calls.append(call)
            noted(call)
        if isinstance(calls[-1].answer, NoAnswer):
            return Outcome(None, (), calls[-1].answer.reason)
    answers = [each.answer for each in calls if isinstance(each.answer, Answer)]
    tally = Counter(value for each in answers for value in each.values)
    if len(tally) > 1:
        said = " and ".join(f"{tally[each]} × {each}" for each in VERDICTS)
        return Outcome(None, (), f"the judge does not agree with itself: {said}")
    return Outcome(answers[-1].values[0], answers[-1].reasons, None)


def attempts(
    model: Model,
    render: Callable[[str], Prompt],
    read: Callable[[str], Answer | NoAnswer],
    *,
    repeat: int = 1,
    notify: Callable[[str], object],
) -> Iterator[Call]:
    """Ask once, and once more where ``read`` finds no answer in the reply."""
    for attempt in range(1, _ATTEMPTS + 1):
        prompt = render(secrets.token_hex(16))
        try:
            reply = ask(model, prompt.text, notify=notify)
        except ModelError as error:
            yield Call(None, NoAnswer(str(error)), repeat, attempt)
            return
        answer = _of_whole(reply) or read(reply)
        yield Call(reply, answer, repeat, attempt)
        if not isinstance(answer, NoAnswer) or answer.is_final:
            return
        if attempt < _ATTEMPTS:
            notify(f"{answer.reason}; asking once more")


def _of_whole(reply: Reply) -> NoAnswer | None:
    if reply.cut_off is None:
        return None
    return NoAnswer(f"the reply is not whole ({reply.cut_off[:40]})")


def _verdict(reply: str) -> Answer | NoAnswer:
    if reply.strip() == CANNOT_TELL:
        return NoAnswer("the judge says that it cannot tell", is_final=True)
    return read_answer(reply, INTENT, VERDICTS)
