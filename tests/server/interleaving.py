"""An editor that has a trace open while others write to its file, in a server of this process.

The editor has a stack of what can be undone, saves and asks as VS Code does, or as Neovim, and may
not wait for what the server has to say before it writes. What has to be on the disk after a save is
known without looking at what the server does: what the editor shows, and what others wrote.
"""

import json
import os
import re
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.support.client_text import apply_edits, range_at, triage
from tests.support.sessions.channels import InProcess

_ID = re.compile(r'"event_id":"([^"]*)"')
_CAPABILITIES = {
    "window": {"showMessage": {}},
    "textDocument": {"synchronization": {"willSaveWaitUntil": True, "didSave": True}},
}


def ids(text: str) -> list[str]:
    """The ids of the events in a text."""
    return _ID.findall(text)


def in_order(whole: list[str], part: list[str]) -> bool:
    """Whether the ids that stand in both have the same order."""
    both = [each for each in part if each in whole]
    return both == sorted(both, key=whole.index)


class Connection:
    """A client of a server in this process, which answers at once."""

    def __init__(self, channel: InProcess) -> None:
        self._channel = channel
        self._numbers = count(1)
        self._following: list[bytes] | None = None
        self.messages: list[str] = []
        """What the server has told the person."""
        self.questions: list[str] = []
        """What it has asked."""
        self.answer: str | None = None
        """What the person says."""
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": _CAPABILITIES})
        self.tell("initialized", {})

    def ask(self, method: str, params: Any, then: Callable[[Any], None] = lambda _: None) -> None:
        """Send a request. What is told in ``then``, which gets the result, follows at once."""
        self._then = then
        self._send({"id": next(self._numbers), "method": method, "params": params})

    def tell(self, method: str, params: Any) -> None:
        """Send a notification; what comes of it has been done then."""
        self._send({"method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        if self._following is not None:
            self._following.append(body)
        else:
            self._channel.exchange([body], self._take)

    def _take(self, message: Any) -> list[bytes]:
        method = message.get("method")
        if method is None:
            self._following = following = []
            self._then(message["result"])
            self._following = None
            return following
        if method == "window/showMessage":
            self.messages.append(message["params"]["message"])
        elif method == "window/showMessageRequest":
            self.questions.append(message["params"]["message"])
        if "id" not in message:
            return []
        is_answered = method == "window/showMessageRequest" and self.answer is not None
        result = {"title": self.answer} if is_answered else None
        return [json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()]


class Habits(NamedTuple):
    """How an editor goes about files."""

    waits: bool
    """Whether it asks before it writes, and waits for the answer."""
    watches: bool
    """Whether it reports files that change."""
    opens_again: bool
    """Whether reading a changed file, and undoing that, is closing and opening it to the server."""
    sends_all: bool
    """Whether an edit is sent as the whole text."""


VSCODE = Habits(waits=True, watches=True, opens_again=False, sends_all=False)
NEOVIM = Habits(waits=True, watches=False, opens_again=True, sends_all=False)
EDITORS = (
    VSCODE,
    NEOVIM,
    Habits(waits=False, watches=True, opens_again=False, sends_all=False),
    Habits(waits=False, watches=True, opens_again=True, sends_all=True),
)


class Step(NamedTuple):
    """What can be undone."""

    before: str
    after: str
    is_read: bool


class Editing:
    """A trace on the disk, and in an editor. Each step is checked against what has to be."""

    def __init__(self, server: Connection, path: Path, habits: Habits, random: Random) -> None:
        self.server = server
        self.path = path
        self.habits = habits
        self.random = random
        self.log: list[str] = []
        self.foreign: set[str] = set()
        """The ids of the events on the disk that others have put there."""
        self._numbers = count(1)
        path.parent.mkdir()
        self.write(self.event("old") + self.event("old"))
        self.foreign.clear()
        self._versions = count(1)
        self.text = ""
        self.undone: list[Step] = []
        self.done: list[Step] = []
        self.clean = 0
        """How much can be undone where the text is what was read or written; -1 if nowhere."""
        self.is_open = False
        self.open()

    def event(self, about: str) -> str:
        number = next(self._numbers)
        return triage(event_id=f"{about}-{number}", input_ref=about)

    # The disk, and others who write to it

    def disk(self) -> str:
        return self.path.read_text("utf-8")

    def write(self, text: str, *, replaces: bool = False) -> None:
        """Others write the file."""
        before = set(ids(self.disk())) if self.path.exists() else set()
        if replaces:
            other = self.path.with_suffix(".new")
            other.write_text(text, encoding="utf-8")
            other.replace(self.path)
        else:
            self.path.write_text(text, encoding="utf-8")
        self._set_time()
        now = set(ids(text))
        self.foreign = (self.foreign & now) | (now - before)

    def _set_time(self) -> None:
        """Later than ever: the clock of a disk may be too coarse for a test."""
        self._moment = max(time.time_ns(), self._moment + 1_000_000)
        os.utime(self.path, ns=(self._moment, self._moment))

    _moment = 0
    is_written = False

    def others_append(self) -> None:
        more = "".join(self.event("other") for _ in range(self.random.randint(1, 4)))
        self.log.append(f"others append {ids(more)}")
        self.write(self.disk() + more)
        self._notice()

    def others_rewrite(self) -> None:
        lines = self.disk().splitlines(keepends=True)
        kind = self.random.choice(["drop", "drop", "fix", "fix and append", "again"])
        if kind == "drop":
            lines = [each for each in lines if self.random.random() < 0.7]
            if not self.habits.waits and "".join(lines) == self.text:
                return  # as if the editor had written it, which puts lines back
        elif kind == "again" and self.habits.watches:
            lines += [each for each in self.snapshot if ids(each)[0] not in ids("".join(lines))]
        else:
            lines = [self._changed(each) for each in lines]
            lines += [self.event("other")] if kind == "fix and append" else []
        self.log.append(f"others rewrite ({kind}) {ids(''.join(lines))}")
        self.snapshot = self.disk().splitlines(keepends=True)
        self.write("".join(lines), replaces=self.random.random() < 0.5)
        self._notice()

    snapshot: list[str] = []  # noqa: RUF012 - replaced, never changed

    def _changed(self, line: str) -> str:
        return re.sub(r'"input_ref":"\w*"', f'"input_ref":"changed{next(self._numbers)}"', line)

    def _notice(self) -> None:
        """The editor notices that the file has changed, or not yet."""
        is_told_first = self.random.random() < 0.5
        if self.habits.watches and is_told_first:
            self.report()
        if self.is_open and not self.is_dirty and self.random.random() < 0.7:
            self.read()
        if self.habits.watches and not is_told_first:
            self.report()

    def report(self) -> None:
        changes = [{"uri": self.path.as_uri(), "type": 2}]
        self.server.tell("workspace/didChangeWatchedFiles", {"changes": changes})

    # The editor

    @property
    def is_dirty(self) -> bool:
        return self.clean != len(self.done)

    def open(self) -> None:
        self.log.append("open")
        self.text, self.is_open = self.disk(), True
        self.done, self.undone, self.clean = [], [], 0
        self.known = self.path.stat()
        self._tell_open()

    def close(self) -> None:
        self.log.append("close")
        self._tell_closed()
        self.is_open = False

    def close_and_restore(self) -> None:
        """With what was not saved, and what can be undone, as after a restart of the window."""
        self.log.append("close and restore")
        self._tell_closed()
        self._tell_open()

    def _tell_open(self) -> None:
        document = {"uri": self.path.as_uri(), "languageId": "drive-trace", "text": self.text}
        params = {"textDocument": {**document, "version": next(self._versions)}}
        self.server.tell("textDocument/didOpen", params)

    def _tell_closed(self) -> None:
        document = {"textDocument": {"uri": self.path.as_uri()}}
        self.server.tell("textDocument/didClose", document)

    def read(self) -> None:
        """Show the file as it is now, which can be undone."""
        self.log.append("read")
        self.known, text = self.path.stat(), self.disk()
        if text != self.text:
            self.done.append(Step(self.text, text, is_read=True))
            self.undone = []
            self._show(text, is_read=True)
        self.clean = len(self.done)

    def edit(self, text: str) -> None:
        if text != self.text:
            self.clean = -1 if self.clean > len(self.done) else self.clean
            self.done.append(Step(self.text, text, is_read=False))
            self.undone = []
            self._show(text)

    def _show(self, text: str, *, is_read: bool = False) -> None:
        if is_read and self.habits.opens_again:
            self.text = text
            self._tell_closed()
            self._tell_open()
            return
        change: dict[str, Any] = {"text": text}
        if not self.habits.sends_all:
            start = len(os.path.commonprefix([self.text, text]))  # noqa: RUF071 - not of paths
            rest = self.text[start:][::-1], text[start:][::-1]
            end = len(os.path.commonprefix(rest))  # noqa: RUF071 - not of paths
            where = range_at(self.text, start, len(self.text) - end, "utf-16")
            change = {"range": where, "text": text[start : len(text) - end]}
        self.text = text
        document = {"uri": self.path.as_uri(), "version": next(self._versions)}
        params = {"textDocument": document, "contentChanges": [change]}
        self.server.tell("textDocument/didChange", params)

    def type_line(self) -> None:
        lines = self.text.splitlines(keepends=True)
        place = self.random.choice([len(lines), len(lines), self.random.randint(0, len(lines))])
        line = self.event("own")
        self.log.append(f"type {ids(line)} at {place}")
        self.edit("".join([*lines[:place], line, *lines[place:]]))

    def type_into_line(self) -> None:
        if lines := self.text.splitlines(keepends=True):
            place = self.random.randrange(len(lines))
            self.log.append(f"type into {ids(lines[place])}")
            lines[place] = self._changed(lines[place])
            self.edit("".join(lines))

    def undo(self) -> None:
        for _ in range(self.random.choice([1, 1, 2, 3])):
            if self.done:
                self.log.append("undo")
                step = self.done.pop()
                self.undone.append(step)
                self._show(step.before, is_read=step.is_read)

    def redo(self) -> None:
        if self.undone:
            self.log.append("redo")
            step = self.undone.pop()
            self.done.append(step)
            self._show(step.after)

    def revert(self) -> None:
        if self.is_dirty:
            self.log.append("revert:")
            self.read()

    def remove_line(self) -> None:
        """By hand: the person is asked, if the file has the line."""
        if not (lines := self.text.splitlines(keepends=True)):
            return
        line = lines.pop(self.random.randrange(len(lines)))
        (event,) = ids(line)
        self.server.answer = self.random.choice([None, "Remove Them", "Keep Them"])
        self.log.append(f"remove {event}: {self.server.answer}")
        self.edit("".join(lines))
        if self.server.questions:
            assert event in ids(self.disk()), self.server.questions
            self.server.questions.clear()
            if self.server.answer == "Remove Them":
                self.foreign.discard(event)
            elif self.server.answer == "Keep Them":
                self.foreign.add(event)
        self.server.answer = None

    def save(self) -> None:
        """Others' lines stay on the disk, in their order; nothing else comes than is shown."""
        shown, before = set(ids(self.text)), self.disk()
        shows_order = in_order(ids(before), ids(self.text))
        kept = self.foreign & set(ids(before))
        merges = self.habits.waits and (not self.habits.watches or self.random.random() < 0.8)
        self.types_on = (merges or bool(kept - shown)) and self.random.random() < 0.4
        self.asks_late = self.habits.waits and not merges and self.random.random() < 0.5
        self.log.append("save" if merges else f"save without merging, {self.asks_late=}")
        self.write_out(merges=merges, overwrites=self.habits.waits and not merges)
        if not self.is_written and self.random.random() < 0.5:
            self.log.append("revert instead:")
            self.read()
        elif not self.is_written:
            self.log.append("overwrite")
            self.write_out(overwrites=True, merges=merges)
        self.types_on = self.asks_late = False
        after = sorted(ids(self.disk()))
        expected = sorted(shown | kept if self.is_written else ids(before))
        assert after == expected, f"{after} instead of {expected}"
        # The editor may move its own lines, and who does not wait gets at the end what it dropped.
        is_whole = shows_order and merges
        stays = [each for each in ids(self.disk()) if is_whole or each in kept - shown]
        assert in_order(ids(before), stays), f"{stays} are not in the order of {ids(before)}"
        assert not self.server.questions
        self.foreign &= set(after)
        if self.known.st_mtime_ns != self.path.stat().st_mtime_ns:
            self._notice()

    types_on = False
    """Whether the person types before the server is told that the file is written."""

    asks_late = False
    """Whether the server comes to what it is asked before a save after the editor has written."""

    def write_out(self, *, overwrites: bool = False, merges: bool | None = None) -> None:
        document = {"textDocument": {"uri": self.path.as_uri()}}
        method, params = "textDocument/willSaveWaitUntil", {**document, "reason": 1}

        def write(edits: Any) -> None:
            if edits:
                self.edit(apply_edits(self.text, edits))
            now, known = self.path.stat(), self.known
            is_other = known.st_mtime_ns < now.st_mtime_ns and known.st_size != now.st_size
            if self.habits.opens_again:
                is_other = known.st_mtime_ns != now.st_mtime_ns
            self.is_written = overwrites or not is_other
            if self.is_written:
                self.path.write_text(self.text, encoding="utf-8")
                self._set_time()
                self.known, self.clean = self.path.stat(), len(self.done)
                if self.asks_late:
                    self.server.ask(method, params)
                if self.types_on:
                    self.type_line()
                    if self.habits.watches and self.random.random() < 0.5:
                        self.report()
                self.server.tell("textDocument/didSave", document)

        if self.habits.waits if merges is None else merges:
            self.server.ask(method, params, write)
        else:
            write([])

    def step(self) -> None:
        if not self.is_open:
            self.random.choice([self.others_append, self.others_rewrite, self.open, self.open])()
            return
        steps = {
            self.type_line: 4,
            self.type_into_line: 2,
            self.others_append: 5,
            self.others_rewrite: 1,
            self.undo: 5,
            self.redo: 2,
            self.save: 5,
            self.read_if_changed: 1,
            self.revert: 1,
            self.remove_line: 1,
            self.close: 1,
            self.close_and_restore: 1,
        }
        (step,) = self.random.choices(list(steps), list(steps.values()))
        step()

    def read_if_changed(self) -> None:
        if not self.is_dirty:
            self.read()
