"""For those who look back on a run: ``drive-trace judge failures`` and ``judge operator-turns``
have a model sort what went on in it.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import click
from msgspec import Meta

from drive_trace.authoring.transcripts import failures_of, operator_turns_of
from drive_trace.commands import models, options, reading
from drive_trace.commands.terminal import EXIT_REFUSED, EXIT_UNUSABLE, Ended, notify
from drive_trace.grading import prompts
from drive_trace.grading.prompts import Item, ModelAnswer, Prompt, Sorting, items_of
from drive_trace.json_text import from_json
from drive_trace.storage import files, linked_files, toml_models
from drive_trace.storage.projects import FileProblem, spot_of
from drive_trace.text.wording import printable, shown, visible
from drive_trace.trace.reading import read_lines

_Classes: TypeAlias = Annotated[
    dict[str, Annotated[str, Meta(title="some text", pattern=r"\S")]], Meta(min_length=1)
]
_EXIT_NOTHING = 3
_LARGEST = 64 << 20
"""Bytes of what was printed before."""


class OrAnother(click.Group):
    """Is a command of its own, unless its first word is the name of another one in it."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """The context of the command that is meant."""
        other = self.commands.get(args[0]) if args else None
        if other is None:
            return super().make_context(info_name, args, parent, **extra)
        return other.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)


_options = options.all_of(
    click.argument("file", metavar="FILE", type=options.FILE),
    options.model,
    options.file("--replay", "Take the replies from what --output-format json printed before."),
    options.file(
        "--classes",
        "Sort by these classes: TOML with a text for each name. By default those that are "
        "installed.",
    ),
    options.flag("--dry-run", "Print the prompts. Nothing is sent."),
    options.outcome_format,
)


@click.command(short_help="Sort the failures of a run.")
@options.value("--project-run-id", "ID", "The run, by default all.", callback=options.is_text)
@_options
def failures(project_run_id: str | None, **given: Any) -> None:
    """Have a model sort failures into the classes F1 to F15, scope-trap and qa-coverage-gap.

    FILE is a trace (FILE.jsonl), or a text; - is standard input. Of a trace the halts
    (falsified-assumption), the dispatches and rounds that failed and the abandoned slices are
    sorted, each shown with the 20 events before it. Of a text it is each paragraph, or each line
    where there is only one paragraph.

    Each failure is of several classes, of one, or of none. A reply that is not exactly one JSON
    object with reasons and classes is asked for once more; then that failure has no classes, and
    the output says why. It is meant for a retrospective: no trace is written to, and no verdict
    is changed.

    Exit code: 0 something was sorted; 1 no such run; 2 wrong usage, or something cannot be read;
    3 nothing was sorted.

    \b
    Examples:
      drive-trace judge failures trace.jsonl --project-run-id shop --model gpt-5.5 --api openai
      drive-trace judge failures notes.txt --model my-model --model-command ./ask.sh
    """

    def of_trace(records: Sequence[str]) -> Sequence[Item]:
        found = failures_of(read_lines(records), project_run_id)
        if found is None and project_run_id is not None:
            raise Ended(EXIT_REFUSED, f"there is no run {shown(project_run_id)} in the trace")
        return found or []

    _sort(prompts.FAILURES, of_trace, given)


@click.command("operator-turns", short_help="Sort the turns of a run's operator.")
@_options
def operator_turns(**given: Any) -> None:
    """Have a model say of each turn of the operator whether the run should have needed it.

    FILE is a transcript of the orchestrator's session (FILE.jsonl, a role and a content a line),
    or a text; - is standard input. Of a transcript each turn of the user is sorted, shown with
    what the orchestrator said and did before it. Of a text it is each paragraph, or each line
    where there is only one paragraph.

    The classes are legitimate-design, legitimate-authorisation, illegitimate-asked,
    illegitimate-correction and illegitimate-rescue, and each turn is of one. A reply that is not
    exactly one JSON object with reasons and a class is asked for once more; then that turn has
    none, and the output says why. It is meant for a retrospective: nothing is written.

    Exit code: 0 something was sorted; 2 wrong usage, or something cannot be read; 3 nothing was
    sorted.

    \b
    Examples:
      drive-trace judge operator-turns session.jsonl --model gpt-5.5 --api openai
      drive-trace judge operator-turns turns.txt --model my-model --model-command ./ask.sh
    """
    _sort(prompts.OPERATOR_TURNS, operator_turns_of, given)


def _sort(
    sorting: Sorting,
    of_records: Callable[[Sequence[str]], Sequence[Item]],
    given: Mapping[str, Any],
) -> None:
    asked = models.Asked._make(map(given.get, models.Asked._fields))
    file, as_json = given["file"], given["output_format"] == "json"
    asked.check()
    names = _classes(sorting, given["classes"])
    items = _items(file, of_records)
    if given["dry_run"]:
        rendered = [(each, prompts.class_prompt(sorting, names, each, "0" * 32)) for each in items]
        _show(rendered, asked.destination, as_json)
        return
    model_for = _models(asked)
    notify(
        f"asking {asked.model} through {asked.destination} about {len(items):,} {sorting.items}"
        if items
        else f"{file}: there are no {sorting.items} in it"
    )
    answers = []
    for item in items:
        answers.append(_ask(model_for(item), sorting, names, item))
        if not as_json:
            _print(file, item, answers[-1], sorting.key)
    if as_json:
        models.echo_json(answers)
    if all(each["why"] is not None for each in answers):
        notify("nothing was sorted")
        sys.exit(_EXIT_NOTHING)


def _items(path: str, of_records: Callable[[Sequence[str]], Sequence[Item]]) -> Sequence[Item]:
    records = reading.usable(files.read_trace(path)).records
    is_json = path.endswith(".jsonl") or records[0].startswith("{")
    without = models.without_keys
    items = [
        each._replace(text=without(each.text), context=without(each.context))
        for each in (of_records(records) if is_json else items_of(records))
    ]
    for each in items:
        if len(each.text) > prompts.LONGEST_ITEM:
            first = f"only the first {prompts.LONGEST_ITEM:,} characters"
            notify(f"line {each.line}: {first} are shown to the model")
    return items


def _show(rendered: Sequence[tuple[Item, Prompt]], where: str, as_json: bool) -> None:
    """Show what would be asked. As JSON it is the interface of ``--dry-run``."""
    if not as_json:
        for _, prompt in rendered:
            models.echo_prompt(prompt, where)
        return
    models.echo_json(
        [
            {
                "item": item.text,
                "line": item.line,
                "prompt": prompt.text,
                "prompt_tokens": prompt.tokens,
                "destination": where,
            }
            for item, prompt in rendered
        ]
    )


def _classes(sorting: Sorting, path: str | None) -> prompts.Classes:
    if path is None:
        path = str(linked_files.CLASSES / f"{sorting.items.replace(' ', '-')}.toml")
    text = reading.read_text(path, files.SMALL).replace("\r\n", "\n")
    read = toml_models.read_table(text, _Classes)
    if not isinstance(read, tuple):
        return read
    problems = (FileProblem(Path(path), why, spot_of(text, at)).problem for at, why in read)
    raise Ended(EXIT_UNUSABLE, *(each.message for each in problems))


def _models(asked: models.Asked) -> Callable[[Item], models.Model]:
    """The model to ask about an item: the one there is, or what replays its replies."""
    if asked.replay is None:
        model = asked.reached()
        return lambda _: model
    try:
        records = from_json(reading.read_text(asked.replay, _LARGEST))
        replies = {(each["line"], each["item"]): list(each["replies"]) for each in records}
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        what = f"{asked.replay}: is not what --output-format json of this command prints"
        raise Ended(EXIT_UNUSABLE, what) from error
    return lambda item: models.replayed(
        models.Reply(models.without_keys(str(each)))
        for each in replies.get((item.line, item.text), ())
    )


def _ask(
    model: models.Model, sorting: Sorting, names: prompts.Classes, item: Item
) -> dict[str, Any]:
    """What the model said of an item: the interface of ``--output-format json``."""
    calls = list(
        models.attempts(
            model,
            lambda nonce: prompts.class_prompt(sorting, names, item, nonce),
            lambda reply: prompts.read_answer(reply, sorting.key, names, many=sorting.takes_many),
        )
    )
    replies = [each.reply.text for each in calls if each.reply is not None]
    answer = calls[-1].answer
    values = answer.values if isinstance(answer, ModelAnswer) else ()
    return {
        "item": item.text,
        "line": item.line,
        sorting.key: list(values) if sorting.takes_many else next(iter(values), None),
        "reasons": list(getattr(answer, "reasons", ())),
        "why": getattr(answer, "reason", None),
        "replies": replies,
    }


def _print(path: str, item: Item, found: Mapping[str, Any], key: str) -> None:
    values = found[key] if isinstance(found[key], list) else filter(None, [found[key]])
    said = f"no answer: {found['why']}" if found["why"] else ", ".join(values) or "none of them"
    click.echo(f"{printable(path, 200)}:{item.line}: {visible(said)}")
    click.echo(f"  {printable(item.name or ' '.join(item.text.split()), 100)}")
    for each in found["reasons"]:
        click.echo(f"  - {visible(each)}")
