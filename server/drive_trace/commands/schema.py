"""``drive-trace schema``: the JSON Schema of an event."""

from __future__ import annotations

import click

from drive_trace.commands.options import complete_events
from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended
from drive_trace.storage.pages import event_schema
from drive_trace.text.wording import shown
from drive_trace.vocabulary import EVENTS
from drive_trace.vocabulary.slips import event_meant


@click.command(short_help="Print the JSON Schema of an event.")
@click.argument("event", required=False, shell_complete=complete_events)
def schema(event: str | None) -> None:
    """Print the JSON Schema (2020-12) of EVENT, or of any event of the vocabulary.

    It accepts what readers accept, also undeclared fields, which emit refuses.

    Exit code: 0, or 2 where no event is called EVENT.

    \b
    Examples:
      drive-trace schema > event.schema.json
      drive-trace schema dispatch-start
    """
    if event is not None and event not in EVENTS:
        guess = event_meant(event)
        hint = f"did you mean {shown(guess)}?" if guess else f"there are {', '.join(EVENTS)}"
        raise Ended(EXIT_UNUSABLE, f"no event is called {shown(event)}; {hint}")
    click.echo(event_schema(event), nl=False)
