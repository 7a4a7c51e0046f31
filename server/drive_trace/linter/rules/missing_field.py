"""A required field is missing.

The fields of an event are required, but for those that may be left out; a value that is not
known is `null` where the field allows it, and the key still stands. Readers reject an event with
a required field missing.

A payload nested under a key of its own (`payload`, `data`, `body`) is the usual cause: events are
flat, and the payload's fields stand beside the envelope's. Another is a key that is misspelt, or
written as another tool does (`eventId`, `type`, `timestamp`).

All fields that are missing are one finding, on the event's name. A slip in a key is one finding, on
the key.

**Fix.** The fields are inserted, all at once or one by one: `null` where that is allowed, else a
gap (`null` or `""`) that stays an error until somebody fills it in. Beside a key that no event
declares, they are inserted one at a time, as it may be the field; beside one that holds an object
or array, be it as text, not at all, nor into a record that has no field of an event, but for a
time: it is one of another log, or an empty object, which is removed. An event's type is suggested
where only one event has such fields. A key is renamed, alone or with all others of its line; in
bulk, if all of them differ in case or separators alone, or are other names of fields that take
their values: an outcome never, and milliseconds where the timestamps of the run say so, too, within
a fifth. Its value is converted where it says the same in another type, and a duration in another
unit where the timestamps say so, too; else the finding asks, and has no fix. A nested payload is
flattened, which is safe but for the two feeds; not where a key would then stand twice.

Examples:
EVENT{"event_type":"dispatch-start","parent_dispatch_id":<absent>}
                   ^^^^^^^^^^^^^^^^ … is missing: expected a string, or null
=> Insert `parent_dispatch_id`: null
EVENT{"event_type":"dispatch-start","parent_dispatch_id":null}
--- One mistake, and one fix.
EVENT{"event_type":"correctness-recorded","qa":<absent>,"intent":<absent>}
                   ^^^^^^^^^^^^^^^^^^^^^^ … `qa` and `intent` are missing
=> Insert both fields as null
EVENT{"event_type":"correctness-recorded","qa":null,"intent":null}
--- A gap stays an error until somebody fills it in.
EVENT{"event_type":"retro-landed","is_mandatory_final":<absent>}
                   ^^^^^^^^^^^^^^
=> Insert `is_mandatory_final`, to be filled in
EVENT{"event_type":"retro-landed","is_mandatory_final":null}
---
EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"M":0,"L":2}}
… `XL` is missing: expected        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
=>
EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"M":0,"L":2,"XL":null}}
--- A slip in the key is one mistake, not two.
EVENT{"event_type":"slice-started","linear_ref":<absent>,"linearRef":"SHOP-214"}
… did you write it as `linearRef`?                       ^^^^^^^^^^^
=> Rename to `linear_ref`
EVENT{"event_type":"slice-started","linear_ref":"SHOP-214"}
--- What it took in seconds, as the timestamps say as well.
EVENT{"event_type":"round-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"round-end","ts":"2026-05-28T14:12:24.000Z","wall_clock_ms":<absent>,"duration_s":744}
… is missing: is `duration_s` the same in another unit?                                 ^^^^^^^^^^^^
=> Rename to `wall_clock_ms`, in milliseconds: 744000
EVENT{"event_type":"round-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"round-end","ts":"2026-05-28T14:12:24.000Z","wall_clock_ms":744000}
--- The envelope as another tool writes it.
EVENT{"type":"slice-started","event_type":<absent>,"ts":<absent>,"time":"2026-05-28T14:00Z"}
      ^^^^^^ … `event_type` is missing: did you write it as `type`?
             ^^^^^^^^^^^^^^^ … `slice_slug`, `slice_index` and `linear_ref` are missing
… `ts` is missing: did you write it as `time`?                   ^^^^^^
=>
{"event_id":"0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90","schema_version":"1","project_run_id":"checkout-retry","orchestrator_agent_id":null,"event_type":"slice-started","ts":"2026-05-28T14:00:00.000Z"}
--- Only one event has such fields.
EVENT{"event_type":<absent>,"has_linear_project":false,"origin":"promote"}
     ^ … `event_type` is missing: expected a string
=>
{"event_id":"0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90","schema_version":"1","ts":"2026-05-28T14:00:00.000Z","project_run_id":"checkout-retry","orchestrator_agent_id":null,"has_linear_project":false,"origin":"promote","event_type":"project-started"}
--- An empty object says nothing.
EVENT{"event_type":"project-closed"}
{}
^ … are missing
=> Remove the line
EVENT{"event_type":"project-closed"}
--- A record of another log has no fix: it is no event.
{"level":"info","ts":"2026-05-28T14:00:00.000Z","msg":"started"}
^ … `event_id`, `schema_version`, `project_run_id`
---
EVENT{"event_type":"slice-completed","pr_ref":<absent>,"payload":{"pr_ref":null}}
                                                       ^^^^^^^^^ … events are flat
=> Flatten `payload`
EVENT{"event_type":"slice-completed","pr_ref":null}
---
EVENT{"event_type":"round-end","wall_clock_ms":<absent>,"data":{"wall_clock_ms":9,"note":1}}
… what is inside `data` in its place                    ^^^^^^
=> Flatten `data`
EVENT{"event_type":"round-end","wall_clock_ms":9,"note":1}
--- Null is a value: the key stands.
EVENT{"event_type":"correctness-recorded","mechanical":null,"qa":null,"intent":null}
"""

from collections.abc import Iterable, Mapping, Sequence, Sized

from drive_trace.linter import rule
from drive_trace.linter.edits import (
    Edit,
    Fix,
    Fixes,
    Level,
    as_json,
    insert_fields,
    is_gap,
    measured_ms,
    names_a_feed,
    object_on,
    placeholder,
    remove_line,
    replace_value,
    undeclared,
)
from drive_trace.text import wording
from drive_trace.trace.line import Diagnostic, DiagnosticKind, Path, event_of
from drive_trace.trace.places import member_at, resolve, syntax_of
from drive_trace.vocabulary import ENVELOPE, EVENTS, FieldType, ObjectShape
from drive_trace.vocabulary.slips import (
    event_under_alias,
    event_with,
    factors_of,
    is_other_name,
    is_same_word,
    said_in_type,
    takes,
)

_NEAR = 0.2
"""By what part a duration may differ from the time between its timestamps."""


def _check(subject: rule.LineDiagnostic) -> rule.Findings:
    diagnostic, line = subject.diagnostic, subject.line
    path = diagnostic.path
    if isinstance(diagnostic.found, tuple):
        wrapper = wording.printable(str(path[0]))
        names = wording.fields_listed(diagnostic.found)
        message = f"events are flat: put what is inside `{wrapper}` in its place ({names})"
        if {*ENVELOPE} <= {*diagnostic.found}:
            message = f"the whole event stands inside `{wrapper}`: a record is the event itself"
        yield subject.finding(RULE, message, rule.Place(rule.Part.KEY, path))
    elif diagnostic.field is not None:
        name, key = diagnostic.field.name, wording.printable(str(path[-1]))
        message = f"`{name}` is missing: did you write it as `{key}`?"
        if not _is_in_unit(diagnostic):
            message = f"`{name}` is missing: is `{key}` the same in another unit?"
        yield subject.finding(RULE, message, rule.Place(rule.Part.KEY, path))
    else:
        missing = _missing(line, diagnostic)
        expected = "" if len(missing) > 1 else f": expected {missing[0].describe()}"
        for key, value in object_on(line).items() if "event_type" in diagnostic.names else ():
            if isinstance(value, str) and '"event_type"' in value:
                expected = f": is the text of `{wording.printable(key)}` the event?"
        names = wording.fields_listed(diagnostic.names)
        message = f"{names} {wording.are(len(missing))} missing{expected}"
        yield subject.finding(RULE, message, _anchor(line, path))


def _anchor(line: rule.Line, path: Path) -> rule.Place:
    """Near the start of the line, where somebody sees it: the event's name, or the object's."""
    if path:
        return rule.Place(rule.Part.KEY, path)
    for each in line.diagnostics:
        if each.field is not None and each.field.name == "event_type":
            return rule.Place(rule.Part.VALUE, each.path)
    is_known = event_of(line) is not None
    return rule.Place.value("event_type") if is_known else rule.Place(rule.Part.START)


def _missing(line: rule.Line, diagnostic: Diagnostic) -> list[FieldType]:
    """The fields that an object lacks."""
    event = event_of(line) or EVENTS.get(event_under_alias(object_on(line)) or "")
    fields = event.fields if event is not None else ENVELOPE
    if diagnostic.path:
        shape = fields[str(diagnostic.path[0])].shape
        fields = shape.fields if isinstance(shape, ObjectShape) else {}
    return [fields[name] for name in diagnostic.names]


def _fixes(finding: rule.Finding) -> Fixes:
    diagnostic = finding.cause
    if isinstance(diagnostic.found, tuple):
        yield from _flatten(finding.line, str(diagnostic.path[0]))
    elif diagnostic.field is None:
        yield from _insertions(finding)


def _may_hold_fields(extra: Diagnostic) -> bool:
    value = extra.found
    is_text = isinstance(value, str) and value.lstrip()[:1] in {"{", "["}
    return is_text or isinstance(value, dict | list)


def _insertions(finding: rule.Finding) -> Fixes:
    """Putting in all fields that are missing, then each of them."""
    line, diagnostic = finding.line, finding.cause
    if any(map(_may_hold_fields, undeclared(line))):
        return  # the fields may stand in there
    if not diagnostic.path and _is_foreign(line):
        if not object_on(line):
            yield remove_line(finding, Level.BY_HAND)
        return
    missing = _missing(line, diagnostic)
    inferred = event_with(object_on(line)) if "event_type" in diagnostic.names else None
    texts = {field.name: placeholder(field) for field in missing}
    gaps = sum(map(is_gap, missing)) - (inferred is not None)
    if inferred is not None:
        texts["event_type"] = as_json(inferred)
    if len(missing) > 1:
        left = f", {gaps} of them to be filled in" if gaps else ""
        left = left or ("" if inferred else " as null")
        yield from _insertion(finding, f"Insert {_all_of(missing)} fields{left}", missing, texts)
    for field in missing:
        what = f": {texts[field.name]}"
        if field.name == "event_type" and inferred is not None:
            what += ", as its fields say"
        elif is_gap(field):
            what = ", to be filled in"
        yield from _insertion(finding, f"Insert `{field.name}`{what}", [field], texts)


def _is_foreign(line: rule.Line) -> bool:
    """Whether a record has no field of an event, but for a time: it is of another log."""
    found = {*object_on(line)}
    meant = {each.field.name for each in line.diagnostics if each.field is not None}
    known = set[str]().union(*(found & each.fields.keys() for each in EVENTS.values()))
    # Other logs have an id and a time, too.
    return known <= {"ts"} and meant.isdisjoint(("event_type", "project_run_id"))


def _insertion(
    finding: rule.Finding, title: str, fields: Sequence[FieldType], texts: Mapping[str, str]
) -> Fixes:
    pairs = [(field.name, texts[field.name]) for field in fields]
    edit = insert_fields(finding.line, finding.cause.path, pairs)
    if edit is not None:
        # Without what a person has to fill in, it would still be missing some.
        missing = _missing(finding.line, finding.cause)
        is_open = any(map(is_gap, missing)) or undeclared(finding.line)
        level = Level.BY_HAND if is_open else Level.IN_BULK
        # On a feed, nulls could take back what was recorded: an editor may apply this unseen.
        is_preferred = len(fields) > 1 and not names_a_feed(finding.line.text)
        yield Fix(title, level, (edit,), is_preferred)


def _is_in_unit(slip: Diagnostic) -> bool:
    return slip.field is None or factors_of(str(slip.path[-1]), slip.field) == (1,)


def _renames(finding: rule.Finding, trace: rule.WholeTrace) -> Fixes:
    """Renaming all keys of a line that are slips, then this one."""
    line, slip = finding.line, finding.cause
    if slip.field is None or _is_foreign(line):
        return
    passed = measured_ms(trace.index, line)
    if not _is_in_unit(slip):
        yield from _in_its_unit(line, slip, slip.field, passed)
        return
    slips = {
        each.field.name: each
        for each in line.diagnostics
        if each.kind is DiagnosticKind.MISSING_FIELD and each.field is not None
        if _is_in_unit(each)
    }
    if len(slips) > 1:
        title = f"Rename {_all_of(slips)} keys: {wording.fields_listed(slips)}"
        yield _rename(line, [*slips.values()], passed, title)
    yield _rename(line, [slip], passed, f"Rename to `{slip.field.name}`")


def _all_of(some: Sized) -> str:
    return "both" if len(some) == 2 else f"all {len(some)}"


def _rename(line: rule.Line, slips: Sequence[Diagnostic], passed: int | None, title: str) -> Fix:
    edits = list[Edit]()
    is_sure = True
    for each in slips:
        assert each.field is not None
        is_of_weight = each.field.is_outcome or each.field.names is not None
        value = None if is_of_weight else said_in_type(each.field, each.found)
        edits += _edits(line, each, each.field, value)
        title += f": {value}" * (value is not None and len(slips) == 1)
        is_sure &= not each.field.is_outcome and (
            is_same_word(str(each.path[-1]), each.field.name) or _fits(each, each.field, passed)
        )
    level = Level.IN_BULK if is_sure else Level.BY_HAND
    return Fix(title, level, tuple(edits))


def _fits(slip: Diagnostic, field: FieldType, passed: int | None) -> bool:
    """Whether a field is called by a name that others have for it, and its value fits: a duration
    is about what the timestamps say.
    """
    found = slip.found
    if not is_other_name(str(slip.path[-1]), field):
        return False
    if field.unit == "milliseconds" and isinstance(found, int):
        return passed is not None and abs(found - passed) <= passed * _NEAR
    return not isinstance(found, float) and takes(field, found)


def _edits(
    line: rule.Line, slip: Diagnostic, field: FieldType, value: str | None
) -> Iterable[Edit]:
    yield Edit(line, resolve(line.text, rule.Place(rule.Part.KEY, slip.path)), as_json(field.name))
    if value is not None:
        yield replace_value(line, slip.path, value)


def _in_its_unit(line: rule.Line, slip: Diagnostic, field: FieldType, passed: int | None) -> Fixes:
    """Renaming a key with a duration in another unit, where the timestamps say so, too."""
    found = slip.found
    if passed is None or not isinstance(found, int | float):
        return
    for factor in factors_of(str(slip.path[-1]), field):
        try:
            number = round(found * factor)
        except OverflowError:  # of what no double holds
            continue
        if abs(number - passed) <= passed * _NEAR:
            title = f"Rename to `{field.name}`, in {field.unit}: {number}"
            yield Fix(title, Level.IN_BULK, (*_edits(line, slip, field, str(number)),))
            return


def _flatten(line: rule.Line, wrapper: str) -> Fixes:
    root = syntax_of(line.text).root
    member = member_at(root, (wrapper,))
    if member is None or member.value is None or not member.value.members:
        return
    inner = member.value.members
    last = inner[-1].value
    if last is None:
        return
    if root is None or {each.key for each in inner} & {each.key for each in root.members}:
        return  # of a key that stands twice, one value is lost
    is_certain = event_of(line) is not None and not names_a_feed(line.text)
    yield Fix(
        f"Flatten `{wording.printable(wrapper)}`",
        Level.SAFE if is_certain else Level.BY_HAND,
        (
            Edit(line, rule.Span(member.key_span.start, inner[0].key_span.start), ""),
            Edit(line, rule.Span(last.span.end, member.value.span.end), ""),
        ),
    )


RULE = rule.Rule(
    rule.Severity.ERROR, _check, fixes=_fixes, fixes_around=_renames, sums="", sums_by="line"
)
