"""``drive-trace judge``: have a model judge the intent of a run."""

from __future__ import annotations

from typing import Any

import click

from drive_trace.commands import options, writing
from drive_trace.commands.asking import Asked, echo_json, echo_prompt
from drive_trace.commands.calibrate import CALIBRATION_NAME
from drive_trace.commands.classify import OrAnother, failures, operator_turns
from drive_trace.commands.judging import Criteria, Judging, JudgingResult, Plan
from drive_trace.commands.terminal import notify
from drive_trace.grading.calibration import FAMILIES
from drive_trace.text.escaping import printable, visible
from drive_trace.text.wording import listed
from drive_trace.vocabulary import GRADE


class _Judge(OrAnother):
    """Says as JSON, too, that an option is wrong, where JSON was asked for."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See :class:`click.Command`."""
        asks_for_json = "--output-format json" in " ".join(args).replace("=", " ")
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if asks_for_json:
                run_id, model = ctx.params.get("project_run_id"), ctx.params.get("model")
                why = error.format_message()
                echo_json(JudgingResult(run_id=run_id, model=model, why=why)._asdict())
            raise


@click.group(
    cls=_Judge,
    commands=[failures, operator_turns],
    invoke_without_command=True,
    no_args_is_help=False,
    subcommand_metavar="",
    short_help="Have a model judge the intent of a run.",
)
@options.trace_file
@options.run_id
@options.file(
    "--acceptance",
    "The acceptance criteria in Markdown, or the folder of a case with acceptance.md in it.",
    required=True,
)
@options.file("--diff", "What was changed.")
@click.option("--repo", metavar="FOLDER", help="The repository whose --range is the diff.")
@click.option("--range", "commits", metavar="A..B", help="The commits whose diff is judged.")
@options.model
@options.file("--replay", "Take the replies from a record of judgements, one after another.")
@click.option(
    "--family",
    metavar="NAME",
    callback=options.not_empty,
    help=f"The judge's family: {listed(FAMILIES, 'or')}, or one of the user's own settings.",
)
@click.option(
    "--orchestrator-family",
    "orchestrator",
    metavar="NAME",
    callback=options.not_empty,
    help="The family, or the model's id, of the orchestrator that ran the work; by default that of "
    "the user's own settings. A judge of the same family is refused.",
)
@options.file(
    "--calibration",
    f"What calibrate kept; by default {CALIBRATION_NAME} in the folder of the user's own settings.",
)
@options.trust_config
@click.option(
    "--labelling-rule",
    metavar="RULE",
    callback=options.not_empty,
    help="The judge counts as calibrated only if people labelled by this rule, as the column "
    "labelling_rule of their labels has it.",
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
@click.option("--dry-run", is_flag=True, help="Print the prompt. Nothing is sent or written.")
@options.outcome_format
@options.only_this_file
@options.paths
def judge(dry_run: bool, output_format: str, **given: Any) -> None:
    """Have a model judge whether a change does what was meant, and record its verdict as intent.

    The model is shown the acceptance criteria, the diff, and an excerpt of the trace. What is too
    long is left out by whole files, and named. Its reply counts only if it is exactly one JSON
    object with reasons and a verdict; anything else is no verdict, and is never recorded.

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
    asked = Asked(*(given.pop(each) for each in Asked._fields))
    criteria = Criteria(*(given.pop(each) for each in Criteria._fields))
    request = writing.RecordRequest(GRADE, {"intent": "pass"}, **given)
    judging = Judging(request, asked, criteria)
    as_json = output_format == "json"
    try:
        plan = judging.plan()
        for each in plan.left_out:
            notify(f"left out: {each}")
        if dry_run:
            _show(plan, judging.outcome if as_json else None)
            return
        judging.ask(plan)
        request, recorded = judging.record()
    except click.ClickException as error:
        if as_json:
            found = judging.outcome
            echo_json(found._replace(why=found.why or error.format_message())._asdict())
        raise
    found = judging.outcome
    if as_json:
        writing.notify_outdated(request, recorded)
        echo_json(found._asdict())
        return
    writing.show_graded(request, recorded)
    reported = found.reported_model
    other = f" (reported as {reported})" if reported and reported != found.model else ""
    click.echo(f"  judged by {printable(f'{found.model}{other}', 200)}:")
    for each in found.reasons:
        click.echo(f"  - {visible(each)}")


def _show(plan: Plan, outcome: JudgingResult | None) -> None:
    """Show what would be done; with an ``outcome``, as JSON with more keys."""
    prompt = plan.prompt
    if outcome is not None:
        more = {
            "prompt": prompt.text,
            "prompt_tokens": prompt.tokens,
            "destination": plan.destination,
            "would_append": plan.would_append,
            "left_out": plan.left_out,
            "calibration": plan.lacks,
        }
        echo_json({**outcome._asdict(), **more})
        return
    echo_prompt(prompt, plan.destination)
    for each in plan.lacks:
        notify(f"the judge is not calibrated: {each}")
    notify(f"would append, for a pass: {plan.would_append}")
