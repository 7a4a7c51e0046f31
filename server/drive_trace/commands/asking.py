"""What commands that ask a model share: the model, and what is not shown of it."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, NamedTuple

import click

from drive_trace.commands.options import API_KEYS
from drive_trace.commands.terminal import notify
from drive_trace.grading.prompts import Prompt
from drive_trace.judging.models import CommandModel, Model, ModelError
from drive_trace.text.escaping import in_json, printable, visible

if TYPE_CHECKING:
    from drive_trace.judging.http_models import HttpModel


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
            return f"the command {printable(without_keys(self.model_command), 200)}"
        return self._http("").url

    def reached(self) -> Model:
        """The model. Raises UsageError where it cannot be asked, as there is no key."""
        if self.model_command is not None:
            return CommandModel(self.model_command, self.timeout, without_keys, notify)
        name = API_KEYS[str(self.api)]
        key = os.environ.get(name, "").strip()
        if not key:
            raise click.UsageError(f"there is no key in the environment variable {name}")
        return self._http(key)

    def _http(self, key: str) -> HttpModel:
        try:
            from drive_trace.judging.http_models import HttpModel  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise click.UsageError("--api needs the extra drive-trace[judge]") from error
        try:
            return HttpModel(
                str(self.api), self.model, key, self.base_url, self.timeout, without_keys
            )
        except ModelError as error:
            raise click.UsageError(str(error)) from error


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


def echo_json(value: object) -> None:
    """Print what a program reads."""
    click.echo(in_json(json.dumps(value, indent=2)))


def echo_prompt(prompt: Prompt, destination: str) -> None:
    """Print a prompt that would be sent somewhere."""
    # A terminal or a CI runner would obey what stands in a diff; JSON has its very characters.
    for line in prompt.text.split("\n"):
        click.echo("\t".join(map(visible, line.split("\t"))))
    notify(
        f"about {prompt.tokens:,} tokens, estimated at 4 bytes each; would be sent to {destination}"
    )
