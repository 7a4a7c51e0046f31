"""Commands that other programs call: ``serve`` of editors, ``completion`` of shells, ``hook`` of
coding agents, ``schema``.
"""

import sys

import click
from click.shell_completion import ShellComplete, get_completion_class

from drive_trace.commands import options, terminal

COMPLETES = "_DRIVE_TRACE_COMPLETE"
"""The environment variable by which a shell asks for completions; click derives its name."""


@click.command()
@click.option("--tcp", metavar="PORT", type=options.Whole(0, 65535), help="Listen on loopback.")
def serve(tcp: int | None) -> None:
    """Run the language server over standard input and output, for editors.

    Exit code: 0 after the client's shutdown and exit, 1 when the client went away without, or
    its messages cannot be told from each other any more (it is told, and so is standard error).

    \b
    Examples:
      drive-trace serve
      drive-trace serve --tcp 7878          one client on 127.0.0.1:7878
    """
    # Imports are late to keep pygls out of other commands, and so that nothing which is printed
    # while it loads gets between the messages.
    from drive_trace.lsp.rpc.stream import claim_pipes  # noqa: PLC0415

    pipes = claim_pipes() if tcp is None else None
    from drive_trace.lsp.serving import run_over_pipes, run_over_tcp  # noqa: PLC0415

    if tcp is not None:
        sys.exit(run_over_tcp(tcp))
    if pipes is None:
        sys.exit(1)
    run_over_pipes(pipes)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that makes SHELL complete commands, options, events, runs and paths.

    bash 4.4 or newer: put  eval "$(drive-trace completion bash)"  into ~/.bashrc. zsh: the same in
    ~/.zshrc, below compinit, with zsh in place of bash. fish: write it once to
    ~/.config/fish/completions/drive-trace.fish.

    \b
    Examples:
      drive-trace completion bash
      drive-trace completion fish > ~/.config/fish/completions/drive-trace.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    # Not the class's own: that of bash starts a bash to see how old it is.
    completer = kind(ctx.find_root().command, {}, "drive-trace", COMPLETES)
    click.echo(ShellComplete.source(completer))


@click.command()
@click.argument("tool", type=click.Choice(["claude-code"]))
def hook(tool: str) -> None:  # noqa: ARG001 - there is one
    """Record a session of TOOL, which gives one event of it on standard input, as to its hooks.

    Nothing is done unless the drive-trace.toml of the project names the run and its trace:

    \b
      [record]
      trace = "projects/shop/trace.jsonl"
      run = "shop"

    The project is that of CLAUDE_PROJECT_DIR, if that is set, else of the session's folder.

    SubagentStart and SubagentStop: records a dispatch and its rounds with their briefs. Stop, and
    PostToolUse of a subagent: reminds the agent of rounds and dispatches that stand open, as it
    alone can say what came of them. PostToolUse of an edit of the trace: tells what is wrong since
    then. SessionEnd: records the tokens of all sessions of the run. Other events: nothing.

    Exit code: 0, and what goes wrong is one line on standard error; 2 if the agent has to mend what
    it has done to the trace, as standard error says.

    \b
    Examples:
      drive-trace hook claude-code < event.json
    """
    from drive_trace.hook import main  # noqa: PLC0415 - whoever calls it often does so without click

    sys.exit(main())


@click.command()
@click.argument("event", required=False, shell_complete=options.complete_events)
@click.option(
    "--output",
    type=click.Choice(["check", "score", "report", "compare", "fleet"]),
    help="The schema of what this command writes as JSON, or fleet as each of its JSON Lines.",
)
def schema(event: str | None, output: str | None) -> None:
    """Print the JSON Schema (2020-12) of EVENT, or of any event of the vocabulary.

    It accepts what readers accept, also undeclared fields, which emit refuses.

    The version of an output stands at the end of the schema's $id, and in the output as version, if
    that is one object. It is another one where a key goes or changes its meaning; keys may come.

    Exit code: 0, or 2 where no event is called EVENT.

    \b
    Examples:
      drive-trace schema > event.schema.json
      drive-trace schema dispatch-start
      drive-trace schema --output check
    """
    if event is not None and output is not None:
        raise click.UsageError("--output does not go with EVENT")
    from drive_trace.storage.linked_files import event_schema  # noqa: PLC0415 - the server has its own
    from drive_trace.text.wording import shown  # noqa: PLC0415
    from drive_trace.vocabulary import EVENTS  # noqa: PLC0415
    from drive_trace.vocabulary.slips import did_you_mean  # noqa: PLC0415

    if event is not None and event not in EVENTS:
        hint = did_you_mean(event, EVENTS) or f"there are {', '.join(EVENTS)}"
        raise terminal.Ended(terminal.EXIT_UNUSABLE, f"no event is called {shown(event)}; {hint}")
    click.echo(event_schema(f"output:{output}" if output else event), nl=False)
