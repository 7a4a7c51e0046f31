"""``drive-trace judge``: have a model judge the intent of a run, and record its verdict."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
from msgspec.structs import replace

from drive_trace.commands import calibrate, looking_back, models, options, reading, writing
from drive_trace.commands.evidence import excerpt, read_case, read_diff
from drive_trace.commands.terminal import EXIT_REFUSED, EXIT_UNUSABLE, Ended, notify
from drive_trace.grading import calibration, judgements, prompts
from drive_trace.scorecard.scoring import work_count
from drive_trace.storage import appending, git, patterns, recording
from drive_trace.storage.configuration import CONFIGURATION_NAME, JudgeSettings
from drive_trace.storage.files import leads_out, may_be_there
from drive_trace.storage.projects import Projects, own_project, shown_path
from drive_trace.text.wording import first_of, listed, printable, visible, writable
from drive_trace.trace.provenance import Origin
from drive_trace.vocabulary import GRADE

_EXIT_NO_VERDICT = 3


class JudgeRefused(Ended):
    """A judge may not judge, whatever the run."""


@click.group(
    cls=looking_back.OrAnother,
    commands=[looking_back.failures, looking_back.operator_turns],
    invoke_without_command=True,
    no_args_is_help=False,
    subcommand_metavar="",
)
@options.trace_file
@options.run_id
@options.file(
    "--acceptance",
    "The acceptance criteria in Markdown, or the folder of a case with acceptance.md in it.",
    required=True,
)
@options.file("--diff", "What was changed.")
@options.value("--repo", "FOLDER", "The repository whose --range is the diff.")
@options.value("--range", "A..B", "The commits whose diff is judged.", name="commits")
@options.model
@options.file("--replay", "Take the replies from a record of judgements, one after another.")
@options.value(
    "--family",
    "NAME",
    f"The judge's family: {listed(calibration.FAMILIES, 'or')}, or one of the user's own settings.",
    callback=options.not_empty,
)
@options.value(
    "--orchestrator-family",
    "NAME",
    "The family, or the model's id, of the orchestrator that ran the work; by default that of "
    "the user's own settings. A judge of the same family is refused.",
    name="orchestrator",
    callback=options.not_empty,
)
@options.file(
    "--calibration",
    f"What calibrate kept; by default {calibrate.CALIBRATION_NAME} in the folder of the user's own "
    "settings.",
)
@options.trust_config
@options.value(
    "--labelling-rule",
    "RULE",
    "The judge counts as calibrated only if people labelled by this rule, as the column "
    "labelling_rule of their labels has it.",
    callback=options.not_empty,
)
@options.flag(
    "--allow-uncalibrated",
    "Record the verdict of a judge that is not calibrated, too. It carries a caveat.",
)
@options.value(
    "--repeat",
    "N",
    "Ask N times, and record only what is unanimous.",
    type=options.Whole(1, 99),
    default=1,
    show_default=True,
)
@options.flag("--dry-run", "Print the prompt. Nothing is sent or written.")
@options.outcome_format
@options.only_this_file
@options.paths
def judge(dry_run: bool, output_format: str, **given: Any) -> None:
    """Have a model judge whether a change does what was meant, and record its verdict as intent.

    The model is shown the acceptance criteria, the diff, and an excerpt of the trace. What is too
    long is left out by whole files, and named. Its reply counts only if it is exactly one JSON
    object: {"reasons": ["..."], "intent": "pass"}, or "fail", with 1 to 20 reasons; anything else
    is no verdict, and is never recorded.

    The judge must be of another family than the orchestrator, and calibrated: see calibrate. What
    the judged tree says of either counts with --trust-config only, else the user's own settings do.
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
    judging = Judging(given)
    as_json = output_format == "json"
    try:
        judging.plan()
        for each in judging.left_out:
            notify(f"left out: {each}")
        if dry_run:
            _show(judging, as_json=as_json)
            return
        judging.ask()
        request, recorded = judging.record()
    except click.ClickException as error:
        if as_json:
            found = judging.outcome
            models.echo_json(found._replace(why=found.why or error.format_message())._asdict())
        raise
    found = judging.outcome
    if as_json:
        writing.notify_outdated(request, recorded)
        models.echo_json(found._asdict())
        return
    writing.show_graded(request, recorded)
    reported = found.reported_model
    other = f" (reported as {reported})" if reported and reported != found.model else ""
    click.echo(f"  judged by {printable(f'{found.model}{other}', 200)}:")
    for each in found.reasons:
        click.echo(f"  - {visible(each)}")


def _show(judging: Judging, *, as_json: bool) -> None:
    """Show what would be done; the outcome as JSON then has more keys."""
    if as_json:
        more = {
            "prompt": judging.prompt.text,
            "prompt_tokens": judging.prompt.tokens,
            "destination": judging.destination,
            "would_append": judging.would_append,
            "left_out": judging.left_out,
            "calibration": judging.lacks,
        }
        models.echo_json({**judging.outcome._asdict(), **more})
        return
    models.echo_prompt(judging.prompt, judging.destination)
    for each in judging.lacks:
        notify(f"the judge is not calibrated: {each}")
    notify(f"would append, for a pass: {judging.would_append}")


class JudgingResult(NamedTuple):
    """What the judging has come to, for ``judge --output-format json``. All texts are untrusted."""

    run_id: str | None = None
    intent: str | None = None
    reasons: Sequence[str] = ()
    """For the intent."""
    appended: bool = False
    model: str | None = None
    reported_model: str | None = None
    """The model as its provider reports it, if it does."""
    prompt_version: str = prompts.PROMPT_VERSION
    calibrated: bool = False
    attempts: int = 0
    why: str | None = None
    """Why there is no verdict."""


class Judging:
    """One run that is judged. What it has come to can be read at any time, also after an error."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        """``given`` are the options of ``judge``, by name."""
        self._given, self._asked = given, models.Asked._make(map(given.get, models.Asked._fields))
        where = {name: given[name] for name in writing.WHERE}
        request = writing.RecordRequest(GRADE, {"intent": "pass"}, **where, origin=Origin("judge"))
        self._request = request
        self.outcome = JudgingResult(run_id=request.project_run_id, model=self._asked.model)
        self._judge = calibrate.judge_now(self._asked.model)
        self._judges = self._orchestrators = frozenset[str]()
        """The families of models that judge and orchestrator are of."""
        self._id = str(uuid.uuid4())
        self._tree = git.tree_state(given["repo"] or ".", request.trace_file)
        self._record = f"{request.trace_file}{patterns.JUDGEMENTS_SUFFIX}"
        """Where the calls are recorded: beside the trace, as readers look there alone."""
        self._diff, self._worked = "", 0
        projects = Projects(".", with_baseline=False, trusted=options.trusted())
        self._project, self._own = projects.of(request.trace_file), own_project()
        self._settings, tree = (each.configuration.judge for each in (self._own, self._project))
        if tree != JudgeSettings() and self._believes(self._project.configuration_path, "[judge]"):
            self._settings = tree

    def plan(self) -> None:
        """Read all that is judged, and refuse what could not be recorded. Nothing is sent or
        written yet. Raises ClickException.
        """
        request, given = self._request, self._given
        ways = [given[name] is not None for name in ("diff", "repo", "commits")]
        if ways not in ([True, False, False], [False, True, True]):
            raise click.UsageError("name either a --diff, or a --repo and a --range")
        self._asked.check()
        if (out := leads_out(self._record)) is not None:
            raise self._refused(f"{self._record}: not written: {out.strerror}", EXIT_UNUSABLE)
        found = (*self._own.problems, *self._project.problems)
        if found:
            raise Ended(EXIT_UNUSABLE, *(each.problem.message for each in found))
        self._check_families()
        case = read_case(given["acceptance"])
        self._diff = read_diff(given["diff"], given["repo"], given["commits"])
        cut = prompts.cut_diff(models.without_keys(self._diff))
        would = writing.preview(request)
        if not cut.text.strip():
            what = f"nothing of the diff can be shown: {first_of(cut.left_out, 10)}"
            raise self._no_verdict(what)
        events, unseen = excerpt(would.traces, request.project_run_id)
        self._worked = work_count(would.traces, request.project_run_id)
        shown = [*map(models.without_keys, events)]

        def render(nonce: str) -> prompts.Prompt:
            return prompts.intent_prompt(case, cut, shown, nonce)

        self._render, self.prompt = render, render("0" * 32)
        if len(self.prompt.text) > prompts.LARGEST:
            length = f"the prompt has {len(self.prompt.text):,} characters"
            most = f"and may have {prompts.LARGEST:,}; shorten {given['acceptance']}"
            raise Ended(EXIT_UNUSABLE, f"{length}, {most}")
        self._calibrated = self._calibration()
        self.lacks = self._lacks(self._judge)
        self.outcome = self.outcome._replace(calibrated=not self.lacks)
        self.destination, self.left_out = self._asked.destination, (*cut.left_out, *unseen)
        self.would_append = would.written.record

    def ask(self) -> None:
        """Ask the judge, and record each call. Raises ClickException where there is no verdict."""
        if refused := self._uncalibrated():
            raise self._refused(*refused)
        model = self._model(self.prompt)
        notify(f"asking {self._asked.model} through {self.destination}")
        repeat = self._given["repeat"]
        found = models.judge(model, self._render, repeat=repeat, noted=self._note)
        if isinstance(found, prompts.NoAnswer):
            raise self._no_verdict(found.reason)
        self.outcome = self.outcome._replace(intent=found.values[0], reasons=found.reasons)

    def record(self) -> tuple[writing.RecordRequest, recording.Merged]:
        """Append the verdict, and say what was asked for. Raises ClickException."""
        request = self._request._replace(changes={"intent": self.outcome.intent})
        recorded = writing.append_feed(request)
        self.outcome = self.outcome._replace(appended=True)
        return request, recorded

    # Who may judge

    def _check_families(self) -> None:
        told, settings = self._given["family"], self._settings
        known = (*calibration.FAMILIES, *settings.families)
        where = f"below [judge] in your own {CONFIGURATION_NAME}, in {self._own.folder}"
        more = f'for one more, set families.NAME = ["a word of its models\' ids"] {where}'
        if told is not None and told.lower() not in known:
            raise click.UsageError(f"--family is one of {listed(known, 'or')}; {more}")
        orchestrator = self._given["orchestrator"] or settings.orchestrator_family
        if orchestrator is None:
            what = "name the --orchestrator-family, or set orchestrator-family"
            raise click.UsageError(f"{what} {where}")
        orchestrators = self._families_of(orchestrator)
        # A family that is told is no way around one that the id shows.
        judges = self._families_of(self._asked.model)
        judges |= self._families_of(told) if told else frozenset()
        if not judges:
            what = f"the family of {self._asked.model} is not known; name it by --family"
            raise self._refused(f"{what}; {more}")
        if not orchestrators:
            what = f"the family of {orchestrator}, the orchestrator, is not known; name a family"
            raise self._refused(f"{what}; {more}")
        shared = judges & orchestrators
        if shared:
            raise self._refused(
                f"judge and orchestrator are of one family, {listed(sorted(shared))}: "
                "it would grade its own kind"
            )
        self._judges, self._orchestrators = judges, orchestrators

    def _families_of(self, model: str) -> frozenset[str]:
        return calibration.families_of(model, self._settings.families)

    def _why_not_by(self, reported: str) -> tuple[str, int] | None:
        """Why a reply of this model does not count, and the exit code; None where it does."""
        families = self._families_of(reported)
        replied = f"the provider says that {printable(reported, 200)} replied"
        if families & self._orchestrators:
            return f"{replied}, of the orchestrator's family", EXIT_REFUSED
        if families and not families & self._judges:
            return f"{replied}, of another family than {self._asked.model}", _EXIT_NO_VERDICT
        return None

    def _calibration(self) -> judgements.Calibrated | None:
        """What calibrate kept; None where there is nothing."""
        given, tree = self._given["calibration"], self._project.folder / calibrate.CALIBRATION_NAME
        path = Path(given) if given else self._own.folder / calibrate.CALIBRATION_NAME
        if given is None and may_be_there(tree) and self._believes(tree, "the calibration"):
            path = tree
        return calibrate.calibration_at(path) if given is not None or may_be_there(path) else None

    def _lacks(self, judge: judgements.Judge) -> tuple[str, ...]:
        """Why a judge is not calibrated, as far as is known of it."""
        if self._calibrated is None:
            place = f"in your own {self._own.folder} (drive-trace calibrate makes it)"
            return (f"there is no {calibrate.CALIBRATION_NAME} {place}",)
        return self._calibrated.lacks_of(judge, self._given["labelling_rule"])

    def _uncalibrated(self) -> tuple[str, int] | None:
        """Why a judge that is not calibrated does not count, and the exit code. Says so where it
        does.
        """
        if not self.lacks:
            return None
        uncalibrated = f"the judge is not calibrated: {'; '.join(self.lacks)}"
        if not self._given["allow_uncalibrated"]:
            return uncalibrated, EXIT_REFUSED
        notify(f"{uncalibrated}. Its verdict carries a caveat")
        return None

    def _believes(self, path: Path | None, what: str) -> bool:
        """Whether something counts that is in the judged tree. Says so where it does not."""
        if not self._project.trusted:
            why_not = "whoever is judged may have written it; --trust-config uses it"
            notify(f"{shown_path(path or Path())}: {what} is not used: {why_not}")
        return self._project.trusted

    # What is asked, and recorded

    def _model(self, prompt: prompts.Prompt) -> models.Model:
        replay = self._asked.replay
        if replay is None:
            return self._asked.reached(prompts.INTENT_SCHEMA)
        found, *_ = judgements.read_judgements(reading.read_text(replay, 64 << 20).split("\n"))
        # What was said of something else says nothing of this.
        same = (
            each
            for each in found
            if not each.judge.differs(self._judge)
            and each.project_run_id == self._request.project_run_id
            and each.acceptance_hash == prompt.acceptance_hash
            and each.diff_hash == prompts.hash_of(self._diff)
        )
        return models.replayed(
            models.Reply(
                models.without_keys(text), model=each.model, schema_held=each.judge.schema_held
            )
            for each in same
            if (text := each.reply) is not None
        )

    def _note(self, call: models.Call) -> None:
        """Record a call before anything is made of it: what is not recorded decides nothing."""
        answer, prompt = call.answer, self.prompt
        reply = call.reply or models.Reply("")
        reported = reply.model
        self.outcome = self.outcome._replace(
            attempts=self.outcome.attempts + 1,
            reported_model=self.outcome.reported_model or reported or None,
        )
        refused = self._why_not_by(reported) if reported else None
        judge = replace(self._judge, schema_held=reply.schema_held)
        if not self.lacks and (lacks := self._lacks(judge)):
            self.lacks, self.outcome = lacks, self.outcome._replace(calibrated=False)
            refused = refused or self._uncalibrated()
        table = self._calibrated if not self.lacks else None
        judgement = judgements.Judgement(
            ts=recording.new_stamp().ts,
            project_run_id=self._request.project_run_id,
            judging=self._id,
            judge=judge,
            model=reported,
            prompt_hash=prompt.hash,
            acceptance_hash=prompt.acceptance_hash,
            diff_hash=prompts.hash_of(self._diff),
            range=self._given["commits"],
            worked=self._worked,
            commit=self._tree[0],
            clean=self._tree[1],
            reply=call.reply and writable(reply.text),
            verdict=None if refused else getattr(answer, "values", (None,))[0],
            why=refused[0] if refused else getattr(answer, "reason", None),
            reasons=getattr(answer, "reasons", ()),
            attempt=call.attempt,
            repeat=call.repeat,
            repeats=self._given["repeat"],
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cost_usd=reply.cost,
            agreement=table.agreement.value if table else None,
            agreement_interval=table.agreement.interval if table else None,
        )
        try:
            with appending.locked_trace(self._record, waiting=notify) as file:
                file.append(judgements.to_record(judgement))
        except appending.AppendError as error:
            what = f"{error}: without its record the verdict is not recorded either"
            raise self._refused(what, EXIT_UNUSABLE) from error
        if refused:
            raise self._refused(*refused)

    def _no_verdict(self, reason: str) -> Ended:
        self.outcome = self.outcome._replace(why=reason)
        return self._refused(f"no verdict: {reason}", _EXIT_NO_VERDICT)

    def _refused(self, reason: str, code: int = EXIT_REFUSED) -> Ended:
        kind = JudgeRefused if code == EXIT_REFUSED else Ended
        return kind(code, reason, notes=[f"nothing was written to {self._request.trace_file}"])
