"""What a model is to us, which one is asked, and how: once, or again where the way to it failed."""

from __future__ import annotations

import os
import random
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import click

from drive_trace.commands import options
from drive_trace.commands.terminal import notify
from drive_trace.grading import prompts
from drive_trace.storage.processes import run_shell
from drive_trace.text import wording

if TYPE_CHECKING:
    from drive_trace.commands.http_models import HttpModel


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
    for name in options.API_KEYS.values():
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
    answer: prompts.ModelAnswer | prompts.NoAnswer
    repeat: int
    """From 1."""
    attempt: int
    """From 1."""


def judge(
    model: Model,
    render: Callable[[str], prompts.Prompt],
    *,
    repeat: int = 1,
    noted: Callable[[Call], object] = lambda _: None,
) -> prompts.ModelAnswer | prompts.NoAnswer:
    """Ask ``repeat`` times; only a unanimous verdict is one, with the reasons of the last call.
    ``render`` makes the prompt with a nonce, which is new for each call. Each call is ``noted`` as
    it ends.
    """
    tally: Counter[str] = Counter()
    for number in range(1, repeat + 1):
        for call in attempts(model, render, _verdict, number):
            noted(call)
            answer = call.answer
        if isinstance(answer, prompts.NoAnswer):
            return answer
        tally.update(answer.values)
    if len(tally) > 1:
        said = " and ".join(f"{tally[each]} × {each}" for each in VERDICTS)
        return prompts.NoAnswer(f"the judge does not agree with itself: {said}")
    return answer


def attempts(
    model: Model,
    render: Callable[[str], prompts.Prompt],
    read: Callable[[str], prompts.ModelAnswer | prompts.NoAnswer],
    repeat: int = 1,
) -> Iterator[Call]:
    """Ask once, and once more where ``read`` finds no answer in the reply."""
    data = render("0" * 32).text
    for attempt in range(1, _ATTEMPTS + 1):
        prompt = render(_nonce_apart_from(data))
        try:
            reply = ask(model, prompt.text)
        except ModelError as error:
            yield Call(None, prompts.NoAnswer(str(error)), repeat, attempt)
            return
        answer = read(reply.text)
        if reply.cut_off is not None:
            answer = prompts.NoAnswer(f"the reply is not whole ({reply.cut_off[:40]})")
        yield Call(reply, answer, repeat, attempt)
        if not isinstance(answer, prompts.NoAnswer) or answer.is_final:
            return
        if attempt < _ATTEMPTS:
            notify(f"{answer.reason}; asking once more")


def _nonce_apart_from(data: str) -> str:
    """A nonce that does not occur in what it is to fence."""
    nonce = secrets.token_hex(16)
    return nonce if nonce not in data else _nonce_apart_from(data)


def _verdict(reply: str) -> prompts.ModelAnswer | prompts.NoAnswer:
    abstains = isinstance(
        prompts.read_answer(reply, INTENT, (prompts.CANNOT_TELL,)), prompts.ModelAnswer
    )
    if abstains or reply.strip() == prompts.CANNOT_TELL:
        return prompts.NoAnswer("the judge says that it cannot tell", is_final=True)
    return prompts.read_answer(reply, INTENT, VERDICTS)


# Which model is asked


class Asked(NamedTuple):
    """Which model, and how it is asked. The options of a command fill it by name."""

    model: str
    api: str | None
    base_url: str | None
    model_command: str | None
    timeout: float
    replay: str | None

    def check(self) -> None:
        """Raises UsageError unless one way to a model is named."""
        if sum(each is not None for each in (self.api, self.model_command, self.replay)) != 1:
            raise click.UsageError("name one of --api, --model-command and --replay")
        if self.base_url is not None and self.api is None:
            raise click.UsageError("--base-url is for --api")

    @property
    def destination(self) -> str:
        """Where prompts go, without any key."""
        if self.replay is not None:
            return f"the record {self.replay}"
        if self.model_command is not None:
            return f"the command {wording.printable(without_keys(self.model_command), 200)}"
        return self._http("").url

    def reached(self, schema: Mapping[str, object] | None = None) -> Model:
        """The model, which a provider holds to a ``schema`` if it can. Raises UsageError where it
        cannot be asked, as there is no key.
        """
        if self.model_command is not None:
            return partial(ask_command, self.model_command, seconds=self.timeout)
        name = options.API_KEYS[str(self.api)]
        key = os.environ.get(name, "").strip()
        if not key:
            raise click.UsageError(f"there is no key in the environment variable {name}")
        return self._http(key, schema).grade

    def _http(self, key: str, schema: Mapping[str, object] | None = None) -> HttpModel:
        try:
            from drive_trace.commands.http_models import HttpModel  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise click.UsageError("--api needs the extra drive-trace[judge]") from error
        try:
            return HttpModel(self, key, schema)
        except ModelError as error:
            raise click.UsageError(str(error)) from error


def echo_json(value: object) -> None:
    """Print what a program reads."""
    click.echo(wording.json_document(value))


def echo_prompt(prompt: prompts.Prompt, destination: str) -> None:
    """Print a prompt that would be sent somewhere."""
    # A terminal or a CI runner would obey what stands in a diff; JSON has its very characters.
    for line in prompt.text.split("\n"):
        click.echo("\t".join(map(wording.visible, line.split("\t"))))
    notify(
        f"about {prompt.tokens:,} tokens, estimated at 4 bytes each; would be sent to {destination}"
    )
