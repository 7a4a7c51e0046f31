"""``drive-trace serve``: the language server."""

from __future__ import annotations

import sys

import click


@click.command(short_help="Run the language server.")
@click.option("--tcp", metavar="PORT", type=click.IntRange(0, 65535), help="Listen on loopback.")
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
