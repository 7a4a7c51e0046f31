"""What ``drive-trace judge`` has beside the judging of a run."""

from __future__ import annotations

from typing import Any

import click


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
