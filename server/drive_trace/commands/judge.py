"""``drive-trace judge``: have a model judge the intent of a run."""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import click

from drive_trace.commands import writing
from drive_trace.commands.calibrate import CALIBRATION_NAME, calibration_path
from drive_trace.commands.classify import OrAnother
from drive_trace.commands.completion import complete_files
from drive_trace.commands.paths import paths_argument
from drive_trace.commands.terminal import is_terminal, notify
from drive_trace.commands.writing import EXIT_REFUSED, EXIT_UNUSABLE, done
from drive_trace.grading.calibration import Rate
from drive_trace.grading.diffs import cut_diff
from drive_trace.grading.families import FAMILIES, families_of
from drive_trace.grading.judgements import (
    SUFFIX,
    Judge,
    Judgement,
    read_calibrated,
    read_judgements,
    to_record,
)
from drive_trace.grading.prompts import PROMPT_VERSION, RUBRIC_HASH, Prompt, hash_of, intent_prompt
from drive_trace.judging.judge import Call, Outcome
from drive_trace.judging.judge import judge as ask_judge
from drive_trace.judging.models import CommandModel, Model, ModelError, ReplayedModel
from drive_trace.judging.sources import diff_of, excerpt, read_case, read_diff
from drive_trace.storage.appending import AppendError, locked_trace
from drive_trace.storage.files import Problem, read_regular, read_trace, why
from drive_trace.storage.recording import new_stamp, preview_feed
from drive_trace.text.escaping import in_json, printable, visible
from drive_trace.text.wording import listed
from drive_trace.vocabulary import GRADE

if TYPE_CHECKING:
    from drive_trace.judging.http_models import HttpModel

EXIT_NO_VERDICT = 3
_APIS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


class Options(NamedTuple):
    """Everything that the command line says, but what is to be recorded where."""

    acceptance: str
    diff: str | None
    repo: str | None
    commits: str | None
    model: str
    api: str | None
    base_url: str | None
    model_command: str | None
    replay: str | None
    family: str | None
    orchestrator: str
    calibration: str | None
    allow_uncalibrated: bool
    repeat: int
    timeout: float
    dry_run: bool
    output_format: str


@click.group(
    cls=OrAnother,
    invoke_without_command=True,
    no_args_is_help=False,
    subcommand_metavar="",
    short_help="Have a model judge the intent of a run.",
)
@writing.trace_option
@writing.run_option
@click.option(
    "--acceptance",
    metavar="FILE",
    required=True,
    shell_complete=complete_files,
    help="The acceptance criteria in Markdown, or the folder of a case with acceptance.md in it.",
)
@click.option("--diff", metavar="FILE", shell_complete=complete_files, help="What was changed.")
@click.option("--repo", metavar="FOLDER", help="The repository whose --range is the diff.")
@click.option("--range", "commits", metavar="A..B", help="The commits whose diff is judged.")
@click.option("--model", metavar="ID", required=True, callback=writing.not_empty, help="The judge.")
@click.option(
    "--api",
    type=click.Choice(list(_APIS)),
    help="How the model is asked over HTTP: chat completions, or Anthropic's messages. The key is "
    "in OPENAI_API_KEY or ANTHROPIC_API_KEY. Needs the extra drive-trace[judge].",
)
@click.option("--base-url", metavar="URL", help="Another provider of the --api.")
@click.option(
    "--model-command",
    metavar="CMD",
    help="Ask the model by a command for sh -c, with the prompt on its standard input.",
)
@click.option(
    "--replay",
    metavar="FILE",
    shell_complete=complete_files,
    help="Take the replies from a record of judgements, one after another.",
)
@click.option("--family", metavar="NAME", help=f"The judge's family: {listed(FAMILIES, 'or')}.")
@click.option(
    "--orchestrator-family",
    "orchestrator",
    metavar="NAME",
    required=True,
    callback=writing.not_empty,
    help="The family, or the model's id, of the orchestrator that ran the work. A judge of the "
    "same family is refused.",
)
@click.option(
    "--calibration",
    metavar="FILE",
    shell_complete=complete_files,
    help=f"What calibrate kept; by default {CALIBRATION_NAME} beside the configuration.",
)
@click.option(
    "--allow-uncalibrated",
    is_flag=True,
    help="Record the verdict of a judge that is not calibrated, too. It carries a caveat.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1, 99),
    default=1,
    show_default=True,
    metavar="N",
    help="Ask N times, and record only what is unanimous.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="How long each call may take.",
)
@click.option("--dry-run", is_flag=True, help="Print the prompt. Nothing is sent or written.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text")
@writing.only_this_file_option
@paths_argument
def judge(
    trace_file: str,
    project_run_id: str,
    only_this_file: bool,
    paths: tuple[str, ...],
    **options: object,
) -> None:
    """Have a model judge whether a change does what was meant, and record its verdict as intent.

    The model is shown the acceptance criteria, the diff, and an excerpt of the trace. What is too
    long is left out by whole files, and named. Its reply counts only if it is exactly one JSON
    object with reasons and a verdict; anything else is no verdict, and is never recorded.

    The judge must be of another family than the orchestrator, and calibrated: see calibrate.
    Each call is recorded in FILE.judgements.ndjson. The other components are kept, and files of
    the run are merged, as record does.

    Exit code: 0 a verdict was recorded; 1 refused; 2 wrong usage, or something cannot be read or
    written; 3 no verdict, and nothing was recorded.

    \b
    Examples:
      drive-trace judge --trace-file trace.jsonl --project-run-id shop \\
        --acceptance acceptance.md --diff run.diff --model gpt-5.5 --api openai \\
        --orchestrator-family claude --dry-run
      drive-trace judge --trace-file trace.jsonl --project-run-id shop \\
        --acceptance cases/shop --repo . --range main..HEAD --model my-judge \\
        --model-command ./judge.sh --family qwen --orchestrator-family claude
    """
    asked = Options(**options)  # type: ignore[arg-type]
    request = writing.RecordRequest(
        trace_file, project_run_id, GRADE, {"intent": "pass"}, False, only_this_file, paths
    )
    _Judging(request, asked).run()


class _Judging:
    """One call of the command."""

    def __init__(self, request: writing.RecordRequest, asked: Options) -> None:
        self._request, self._asked = request, asked
        self._judge = Judge(
            model=asked.model, prompt_version=PROMPT_VERSION, rubric_hash=RUBRIC_HASH
        )
        self._id = str(uuid.uuid4())
        self._diff = ""
        self._calibrated = False

    def run(self) -> None:
        request, asked = self._request, self._asked
        _check_usage(asked)
        self._check_families()
        case = done(read_case(asked.acceptance), asked.acceptance)
        self._diff = self._read_diff()
        cut = cut_diff(self._diff)
        trace = done(read_trace(request.trace_file), request.trace_file)
        events = excerpt(trace.records, request.run_id)

        def render(nonce: str) -> Prompt:
            return intent_prompt(case, cut, events, nonce)

        beside = writing.beside_of(request)
        draft = preview_feed(
            request.trace_file,
            GRADE,
            request.run_id,
            {"intent": "pass"},
            beside=beside.paths,
        )
        would = writing.done(draft, request.trace_file, beside._replace(notes=()))
        agreement, lacks = self._calibration()
        for each in cut.left_out:
            notify(f"left out of the diff: {each}")
        if asked.dry_run:
            _show_prompt(render, would.record(new_stamp()), lacks, self._where())
            return
        if lacks:
            uncalibrated = f"the judge is not calibrated: {'; '.join(lacks)}"
            if not asked.allow_uncalibrated:
                self._refuse(uncalibrated)
            notify(f"{uncalibrated}. Its verdict carries a caveat")
        model = self._model()
        notify(f"asking {asked.model} at {self._where()}")
        outcome = ask_judge(
            model,
            render,
            repeat=asked.repeat,
            notify=notify,
            noted=partial(self._note, agreement),
        )
        self._finish(outcome)

    def _check_families(self) -> None:
        asked = self._asked
        # A family that is told is no way around one that the id shows.
        judges = families_of(asked.model) | families_of(asked.family or "")
        orchestrators = families_of(asked.orchestrator)
        if not judges:
            self._refuse(f"the family of {asked.model} is not known; --family says it")
        if not orchestrators:
            self._refuse(f"the family of {asked.orchestrator}, the orchestrator, is not known")
        shared = judges & orchestrators
        if shared:
            self._refuse(
                f"judge and orchestrator are of one family, {listed(sorted(shared))}: "
                "it would grade its own kind"
            )

    def _read_diff(self) -> str:
        asked = self._asked
        if asked.diff is not None:
            return done(read_diff(asked.diff), asked.diff)
        assert asked.repo is not None
        assert asked.commits is not None
        return done(diff_of(asked.repo, asked.commits), asked.repo)

    def _calibration(self) -> tuple[Rate | None, tuple[str, ...]]:
        """How often the judge agreed with people, or why it is not calibrated."""
        given = self._asked.calibration
        path = Path(given) if given else calibration_path(Path(self._request.trace_file).parent)
        if given is None and not os.path.lexists(path):
            return None, (f"there is no {CALIBRATION_NAME}",)
        try:
            found = read_calibrated(read_regular(path).decode())
        except ValueError:
            return done(Problem(str(path), "is no calibration"), str(path))
        except OSError as error:
            return done(Problem(str(path), f"cannot be read: {why(error)}"), str(path))
        lacks = found.lacks(self._judge)
        self._calibrated = not lacks
        return found.table.agreement if not lacks else None, lacks

    def _where(self) -> str:
        """Where prompts go, without any key."""
        asked = self._asked
        if asked.model_command is not None:
            return f"the command {printable(asked.model_command, 200)}"
        if asked.replay is not None:
            return f"the record {asked.replay}"
        return self._http("").url

    def _http(self, key: str) -> HttpModel:
        try:
            from drive_trace.judging.http_models import HttpModel  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise click.UsageError("--api needs the extra drive-trace[judge]") from error
        asked = self._asked
        try:
            return HttpModel(str(asked.api), asked.model, key, asked.base_url, asked.timeout)
        except ModelError as error:
            raise click.UsageError(str(error)) from error

    def _model(self) -> Model:
        asked = self._asked
        if asked.model_command is not None:
            return CommandModel(asked.model_command, asked.timeout)
        if asked.replay is not None:
            read = writing.read_text(asked.replay, 64 << 20)
            found, _ = read_judgements(read.split("\n"))
            # What was said of something else says nothing of this.
            same = (
                each
                for each in found
                if each.judge == self._judge
                and each.project_run_id == self._request.run_id
                and each.diff_hash == hash_of(self._diff)
            )
            return ReplayedModel([each.reply for each in same if each.reply is not None])
        name = _APIS[str(asked.api)]
        key = os.environ.get(name, "").strip()
        if not key:
            raise click.UsageError(f"there is no key in the environment variable {name}")
        return self._http(key)

    def _note(self, agreement: Rate | None, call: Call) -> None:
        """Record a call before anything is made of it: what is not recorded decides nothing."""
        prompt, reply, answer, repeat, attempt = call
        reported = reply.model if reply is not None else None
        shared = families_of(reported or "") & families_of(self._asked.orchestrator)
        if shared:
            self._refuse(f"the provider says that {reported} replied, of the orchestrator's family")
        judgement = Judgement(
            ts=new_stamp().ts,
            project_run_id=self._request.run_id,
            judging=self._id,
            judge=self._judge,
            model=None if reply is None else reply.model,
            prompt_hash=prompt.hash,
            acceptance_hash=prompt.acceptance_hash,
            diff_hash=hash_of(self._diff),
            range=self._asked.commits,
            reply=None if reply is None else _writable(reply),
            verdict=getattr(answer, "value", None),
            why=getattr(answer, "reason", None),
            reasons=getattr(answer, "reasons", ()),
            attempt=attempt,
            repeat=repeat,
            repeats=self._asked.repeat,
            input_tokens=None if reply is None else reply.input_tokens,
            output_tokens=None if reply is None else reply.output_tokens,
            cost_usd=None if reply is None else reply.cost,
            agreement=agreement and agreement.value,
            agreement_interval=agreement and agreement.interval,
        )
        path = f"{self._request.trace_file}{SUFFIX}"
        if Path(path).is_symlink():
            notify(f"{path}: is a link, which is not followed; nothing was recorded")
            sys.exit(EXIT_UNUSABLE)
        try:
            with locked_trace(path, waiting=notify) as file:
                file.append(_redacted(to_record(judgement)))
        except AppendError as error:
            notify(f"{error}: without its record the verdict is not recorded either")
            sys.exit(EXIT_UNUSABLE)

    def _finish(self, outcome: Outcome) -> None:
        if outcome.verdict is None:
            self._print_json(outcome)
            notify(f"no verdict: {outcome.why}")
            notify(f"nothing was written to {self._request.trace_file}")
            sys.exit(EXIT_NO_VERDICT)
        request = self._request._replace(changes={"intent": outcome.verdict})
        recorded = writing.record(request)
        writing.notify_outdated(request, recorded)
        self._print_json(outcome)
        if self._asked.output_format == "text":
            assert recorded.score is not None
            writing.show_recorded(request, recorded, recorded.score.headline)
            click.echo(f"  judged by {printable(self._asked.model, 200)}:")
            for each in outcome.reasons:
                click.echo(f"  - {visible(_redacted(each))}")

    def _refuse(self, why_not: str) -> NoReturn:
        self._print_json(Outcome(None, (), why_not, ()))
        notify(why_not)
        notify(f"nothing was written to {self._request.trace_file}")
        sys.exit(EXIT_REFUSED)

    def _print_json(self, outcome: Outcome) -> None:
        if self._asked.output_format != "json":
            return
        reported = [each.reply.model for each in outcome.calls if each.reply is not None]
        said = {
            "run_id": self._request.run_id,
            "intent": outcome.verdict,
            "reasons": list(outcome.reasons),
            "appended": outcome.verdict is not None,
            "model": next(filter(None, reported), self._asked.model),
            "prompt_version": PROMPT_VERSION,
            "calibrated": self._calibrated,
            "attempts": len(outcome.calls),
            "why": outcome.why,
        }
        click.echo(_redacted(in_json(json.dumps(said, indent=2))))


def _redacted(text: str) -> str:
    """The text without any key of ours, as where a model's command repeats its environment."""
    for name in _APIS.values():
        key = os.environ.get(name, "").strip()
        if key:
            text = text.replace(json.dumps(key)[1:-1], "[key]").replace(key, "[key]")
    return text


def _writable(text: str) -> str:
    """A reply as it can be written: half of a pair of surrogates cannot."""
    return text.encode("utf-8", "replace").decode()


def _check_usage(asked: Options) -> None:
    by_range = asked.repo is not None, asked.commits is not None
    if (asked.diff is None) == (by_range == (False, False)) or by_range[0] != by_range[1]:
        raise click.UsageError("name either a --diff, or a --repo and a --range")
    ways = (asked.api, asked.model_command, asked.replay)
    if sum(each is not None for each in ways) != 1:
        raise click.UsageError("name one of --api, --model-command and --replay")
    if asked.base_url is not None and asked.api is None:
        raise click.UsageError("--base-url is for --api")
    if asked.family is not None and asked.family not in FAMILIES:
        raise click.UsageError(f"--family is one of {listed(FAMILIES, 'and')}")


def _show_prompt(
    render: Callable[[str], Prompt], record: str, lacks: Sequence[str], where: str
) -> None:
    prompt = render("0" * 32)
    lines = prompt.text.split("\n")
    # A terminal would obey what stands in a diff.
    click.echo("\n".join(map(visible, lines)) if is_terminal(sys.stdout) else prompt.text)
    notify(f"about {prompt.tokens:,} tokens, estimated at 4 bytes each; would be sent to {where}")
    for each in lacks:
        notify(f"the judge is not calibrated: {each}")
    notify(f"would append, for a pass: {record}")
