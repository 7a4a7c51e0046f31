"""What a model is to us, and how it is asked: once, or again where the way to it failed."""

from __future__ import annotations

import os
import random
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from drive_trace.commands.options import API_KEYS
from drive_trace.commands.terminal import notify
from drive_trace.grading.prompts import CANNOT_TELL, ModelAnswer, NoAnswer, Prompt, read_answer
from drive_trace.storage.processes import run_shell

LARGEST = 1 << 20
"""Bytes of a reply. More is not read."""
TRIES = 5
"""So often is a model asked at the most while the way to it fails."""
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
"""Seconds."""


class ModelError(Exception):
    """A model gave no reply: why, in one clause without a full stop, and without any key."""


class TransportError(ModelError):
    """The way to the model failed, and may work again."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait
        """Seconds after which the provider wants to be asked again, if it said so."""


class Reply(NamedTuple):
    """What a model replied, with what its provider said of it."""

    text: str
    model: str | None = None
    """The model's id as the provider reports it."""
    cut_off: str | None = None
    """Why the reply is not whole, or none: the provider's word for it."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    """In US dollars."""
    schema_held: bool | None = None
    """Whether the provider took a JSON Schema for the reply."""


Model: TypeAlias = Callable[[str], Reply]
"""Replies to a prompt. Raises ModelError where there is no reply."""


def without_keys(text: str) -> str:
    """What a model is shown, and what it replies, without any key of ours, as where a model's
    command repeats its environment; nor with one as JSON may spell it.
    """
    for name in API_KEYS.values():
        key = os.environ.get(name, "").strip()
        if key:
            text = re.sub("".join(map(_spellings, key)), "[key]", text)
    return text


def _spellings(character: str) -> str:
    """A pattern for a character, bare or as strings of JSON have it."""
    bare, point = re.escape(character), f"{ord(character):04x}"
    escape = r"\\?" if character in '"\\/' else ""
    return rf"(?:{escape}{bare}|\\u(?i:{point}))"


def ask(model: Model, prompt: str, sleep: Callable[[float], object] = time.sleep) -> Reply:
    """Ask a model, again where the way to it fails. Each wait is about twice as long as the one
    before, or what the provider asks for. A person is told why, and how long we wait. Raises
    ModelError.
    """
    for number in range(1, TRIES + 1):
        try:
            return model(prompt)
        except TransportError as error:
            wait = _FIRST_WAIT * 2 ** (number - 1) * random.uniform(0.75, 1.25)  # noqa: S311 - jitter
            wait = max(wait, error.wait or 0.0)
            if wait > _LONGEST_WAIT:
                raise ModelError(f"{error}; it asks to wait {wait:,.0f} s") from error
            if number == TRIES:
                raise
            notify(f"{error}; asking again in {wait:.1f} s")
            sleep(wait)
    raise AssertionError("the last try returns or raises")


def ask_command(command: str, prompt: str, seconds: float = 600.0) -> Reply:
    """What a command replies that reads the prompt from its standard input. A person is told each
    line that it writes to its standard error. Raises ModelError.
    """
    parts, errors = bytearray(), bytearray()

    def take(data: bytes, into: bytearray = parts) -> None:
        into.extend(data)
        if len(into) > LARGEST:
            raise ModelError(f"the model's command wrote more than {LARGEST:,} bytes")

    def tell(data: bytes) -> None:
        take(data, errors)
        if b"\n" in data:
            *lines, rest = errors.split(b"\n")
            errors[:] = rest
            for line in lines:
                tell_line(line)

    def tell_line(line: bytearray) -> None:
        if line.strip():
            notify(f"the model's command: {without_keys(line.decode('utf-8', 'replace'))}")

    try:
        text = prompt.encode("utf-8", "replace")
        ran = run_shell(command, seconds=seconds, take=take, text=text, errors=tell)
        tell_line(errors)
    except OSError as error:
        raise ModelError(f"the model's command cannot be run: {error.strerror}") from error
    if ran.problem is not None:
        raise ModelError(f"the model's command {ran.problem}")
    if ran.code:
        raise ModelError(f"the model's command ended with exit code {ran.code}")
    try:
        return Reply(without_keys(parts.decode()), schema_held=False)
    except UnicodeDecodeError as error:
        raise ModelError("the model's command wrote something that is not UTF-8") from error


def replayed(replies: Iterable[Reply]) -> Model:
    """Gives replies that were recorded, one after another, whatever is asked."""
    left = iter(replies)

    def reply(_: str) -> Reply:
        for each in left:
            return each
        raise ModelError("no recorded reply is left")

    return reply


# Asking a judge until there is a verdict, or a reason why there is none


_ATTEMPTS = 2
"""A malformed reply is asked for once more."""
INTENT = "intent"
VERDICTS = ("pass", "fail")


class Call(NamedTuple):
    """One call of the model."""

    reply: Reply | None
    """None where there was none."""
    answer: ModelAnswer | NoAnswer
    repeat: int
    """From 1."""
    attempt: int
    """From 1."""


def judge(
    model: Model,
    render: Callable[[str], Prompt],
    *,
    repeat: int = 1,
    noted: Callable[[Call], object] = lambda _: None,
) -> ModelAnswer | NoAnswer:
    """Ask ``repeat`` times; only a unanimous verdict is one, with the reasons of the last call.
    ``render`` makes the prompt with a nonce, which is new for each call. Each call is ``noted`` as
    it ends.
    """
    tally: Counter[str] = Counter()
    for number in range(1, repeat + 1):
        for call in attempts(model, render, _verdict, number):
            noted(call)
            answer = call.answer
        if isinstance(answer, NoAnswer):
            return answer
        tally.update(answer.values)
    if len(tally) > 1:
        said = " and ".join(f"{tally[each]} × {each}" for each in VERDICTS)
        return NoAnswer(f"the judge does not agree with itself: {said}")
    return answer


def attempts(
    model: Model,
    render: Callable[[str], Prompt],
    read: Callable[[str], ModelAnswer | NoAnswer],
    repeat: int = 1,
) -> Iterator[Call]:
    """Ask once, and once more where ``read`` finds no answer in the reply."""
    data = render("0" * 32).text
    for attempt in range(1, _ATTEMPTS + 1):
        prompt = render(_nonce_apart_from(data))
        try:
            reply = ask(model, prompt.text)
        except ModelError as error:
            yield Call(None, NoAnswer(str(error)), repeat, attempt)
            return
        answer = read(reply.text)
        if reply.cut_off is not None:
            answer = NoAnswer(f"the reply is not whole ({reply.cut_off[:40]})")
        yield Call(reply, answer, repeat, attempt)
        if not isinstance(answer, NoAnswer) or answer.is_final:
            return
        if attempt < _ATTEMPTS:
            notify(f"{answer.reason}; asking once more")


def _nonce_apart_from(data: str) -> str:
    """A nonce that does not occur in what it is to fence."""
    nonce = secrets.token_hex(16)
    return nonce if nonce not in data else _nonce_apart_from(data)


def _verdict(reply: str) -> ModelAnswer | NoAnswer:
    abstains = isinstance(read_answer(reply, INTENT, (CANNOT_TELL,)), ModelAnswer)
    if abstains or reply.strip() == CANNOT_TELL:
        return NoAnswer("the judge says that it cannot tell", is_final=True)
    return read_answer(reply, INTENT, VERDICTS)
