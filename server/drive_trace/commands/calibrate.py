"""``drive-trace calibrate``: hold a judge's verdicts against people's labels."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from msgspec.structs import asdict

from drive_trace.commands import options, reading
from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended, notify
from drive_trace.grading import calibration, judgements, prompts
from drive_trace.storage import files, recording, replace
from drive_trace.storage.patterns import JUDGEMENTS_SUFFIX
from drive_trace.text.wording import first_of, plural

CALIBRATION_NAME = "drive-trace-calibration.json"
_LARGEST = 64 << 20


@click.command()
@click.argument("labels", metavar="LABELS", type=options.FILE)
@options.file(
    "--judgements",
    "Take the judge's verdicts from this record, or from all in this folder; a label's case is the "
    "id of a run. May be repeated.",
    name="records",
    multiple=True,
)
@options.value(
    "--model",
    "ID",
    "The model whose verdicts stand in LABELS. They were made with this version's prompt.",
    callback=options.not_empty,
)
@options.out(
    f"Where the calibration is kept; by default {CALIBRATION_NAME} in the "
    "folder of the user's own settings.",
    check=options.not_empty,
)
@options.outcome_format
def calibrate(
    labels: str, records: tuple[str, ...], model: str | None, out: str | None, output_format: str
) -> None:
    """Say how far a judge agrees with people, and whether that is far enough to trust it.

    LABELS has a row a case, as JSON Lines or CSV: case, human (pass or fail) and judge (pass, fail
    or nothing). labelled_by and labelling_rule may stand beside them: only labels by people count.

    A judge is calibrated if the lower bounds of three 95 % Wilson intervals are high enough: 0.80
    of its agreement, and 0.50 of the rates at which it catches human fails and keeps human passes.
    It has to give a verdict on 80 % of the rows, and its kappa has to be above 0. A row that
    repeats a case makes it no more certain.

    The calibration is kept for judge. It holds for this model, prompt and rubric only, and, where
    it comes from --judgements, for replies that a JSON Schema holds as it held those.

    Exit code: 0 calibrated; 1 not calibrated; 2 wrong usage, or something cannot be read or
    written.

    \b
    Examples:
      drive-trace calibrate labels.csv --model gpt-5.5
      drive-trace calibrate labels.jsonl --judgements trace.jsonl.judgements.ndjson
    """
    if model is not None and records:
        raise click.UsageError("the record of --judgements names the --model")
    rows = _labels(labels, has_record=bool(records))
    judge = judge_now(model) if model is not None else None
    if records:
        judge, rows = _judged(records, rows)
    if rows.unsigned:
        notify(f"{plural(rows.unsigned, 'row')} without labelled_by: taken for a person's")
    table = calibration.calibrate(rows.rows)
    lacks = (*table.lacks, *_of_cases(rows))
    if output_format == "json":
        click.echo(json.dumps(calibration.calibration_json(table, lacks), indent=2))
    else:
        click.echo("\n".join(calibration.calibration_in_words(table, lacks)))
    if judge is None:
        which = "no case has a verdict in --judgements" if records else "name the --model"
        notify(f"nothing is kept for judge, as nobody says which model this is: {which}")
    elif lacks:
        notify("nothing is kept for judge, as it is not calibrated")
    else:
        _keep(judge, rows, out)
    sys.exit(1 if lacks else 0)


def judge_now(model: str) -> judgements.Judge:
    """A model as a judge that is asked with the prompt and rubric of this version."""
    return judgements.Judge(
        model=model, prompt_version=prompts.PROMPT_VERSION, rubric_hash=prompts.RUBRIC_HASH
    )


def calibration_at(path: Path) -> judgements.Calibrated:
    """What calibrate kept. Ends the command if it cannot be read."""
    try:
        return judgements.read_calibrated(files.read_regular(path).decode())
    except ValueError as error:
        raise Ended(EXIT_UNUSABLE, f"{path}: is no calibration") from error
    except OSError as error:
        raise Ended(EXIT_UNUSABLE, f"{path}: cannot be read: {files.why(error)}") from error


def _labels(path: str, *, has_record: bool) -> calibration.Labels:
    try:
        found = calibration.read_labels(reading.read_text(path, _LARGEST))
    except calibration.LabelError as error:
        raise Ended(EXIT_UNUSABLE, f"{path}: {error}") from error
    if not found.rows:
        raise Ended(
            EXIT_UNUSABLE, f"{path}: has no row; a row a case is needed, with case and human"
        )
    if not (has_record or found.has_verdicts):
        what = "no row has `judge`; put the judge's verdicts there, or name their --judgements"
        raise Ended(EXIT_UNUSABLE, f"{path}: {what}")
    return found


def _of_cases(rows: calibration.Labels) -> tuple[str, ...]:
    """What is not enough where each case counts once, and rules by which people labelled."""
    lacks = []
    if len(rows.rules) > 1:
        lacks.append(f"the labels follow {len(rows.rules)} rules, so they say several things")
    cases = calibration.once_each(rows.rows)
    if len(cases) < len(rows.rows) and not calibration.calibrate(rows.rows).lacks:
        lacks += [f"with each case once, {each}" for each in calibration.calibrate(cases).lacks]
    return tuple(lacks)


def _records_in(path: str) -> list[str]:
    """The records in a folder, at any depth, or this one. Ends the command where there is none."""
    if not Path(path).is_dir():
        return [path]
    found = sorted(str(each) for each in Path(path).rglob(f"*{JUDGEMENTS_SUFFIX}"))
    if not found:
        raise Ended(EXIT_UNUSABLE, f"{path}: holds no record of judgements (*{JUDGEMENTS_SUFFIX})")
    return found


def _judged(
    paths: Sequence[str], rows: calibration.Labels
) -> tuple[judgements.Judge | None, calibration.Labels]:
    """Whose verdicts some records have, and the labels with them."""
    found: list[judgements.Judgement] = []
    for each in dict.fromkeys(record for path in paths for record in _records_in(path)):
        own, _, rejected = judgements.read_judgements(reading.read_text(each, _LARGEST).split("\n"))
        if rejected:
            notify(f"{each}: {plural(rejected, 'line')} of it cannot be read, and do not count")
        found += own
    path = first_of(paths, 3)
    human = {each.case: each for each in rows.rows}
    used = [calls for calls in judgements.judgings(found) if calls[-1].project_run_id in human]
    # Without a reply nobody knows what would have held it.
    judges = {each.judge for calls in used for each in calls if each.verdict or each.reply}
    if len(judges) > 1:
        several = f"{path}: the verdicts are of {len(judges)} judges; calibrate one at a time"
        raise Ended(EXIT_UNUSABLE, several)
    said = [each.verdict for calls in used for each in calls]
    notify(f"{path}: {said.count(None):,} of {plural(len(said), 'call')} gave no verdict")
    # Each time that a run was judged is a row: the best of several would flatter the judge.
    labels = [
        human[calls[-1].project_run_id]._replace(judge=judgements.verdict_of(calls))
        for calls in used
    ]
    judged = {each.case for each in labels}
    labels += [each._replace(judge=None) for each in human.values() if each.case not in judged]
    return next(iter(judges), None), rows._replace(rows=tuple(labels))


def _keep(judge: judgements.Judge, rows: calibration.Labels, out: str | None) -> None:
    """Write the calibration. Nothing takes the place of a file that is none."""
    path = Path(out) if out is not None else files.config_folder() / CALIBRATION_NAME
    table = calibration.calibrate(calibration.once_each(rows.rows))
    kept = judgements.Calibrated(
        ts=recording.new_stamp().ts,
        judge=judge,
        labelling_rule=next(map(prompts.hash_of, rows.rules), None),
        **asdict(table),
    )
    try:
        if os.path.lexists(path):
            judgements.read_calibrated(files.read_regular(path).decode())
        if out is None:
            path.parent.mkdir(parents=True, exist_ok=True)
        replace.write_whole(files.inside(path), f"{judgements.to_record(kept)}\n".encode())
    except ValueError as error:
        what = f"{path}: is no calibration; it is not replaced"
        raise Ended(EXIT_UNUSABLE, what) from error
    except OSError as error:
        raise Ended(EXIT_UNUSABLE, f"{path}: cannot be written: {files.why(error)}") from error
    notify(f"{path}: kept for judge{'' if out is None else ', which takes it as --calibration'}")
