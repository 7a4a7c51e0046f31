"""Asking git about a repository that a stranger may have made. Nothing that its files or its
configuration name is run, and nothing is fetched.
"""

import os
import re
import shlex
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path

from drive_trace.storage import files as disk
from drive_trace.storage.patterns import RECORD_SUFFIXES, TRACE_GLOBS
from drive_trace.text.wording import listed, visible

_GIT = (
    *("git", "--no-pager", "--no-optional-locks"),
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    # Or the hint on that would stand in place of why git failed.
    *("-c", "advice.graftFileDeprecated=false"),
    # What is ignored must not depend on whose machine this is.
    *("-c", f"core.excludesFile={os.devnull}"),
)
_ENVIRONMENT = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
MODE_OF_FILE, _MODE_OF_MODULE = "100", "160000"
_FORGE = (
    r"(?:https://(?:[^/@\s]*@)?|(?:ssh://)?git@)(github|gitlab)\.com[:/](\w[\w./-]*?)(\.git)?/?\n?"
)
"""An address of ``origin`` of which it is known where the web shows files. What stands before ``@``
may be a secret, and is in no group.
"""
_KINDS = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
"""What the short name of a ref may stand for, in the order in which git looks for it."""
_MOST_ERRORS = 1 << 12
_LENGTH_OF_SHA1 = 40
_PATIENCE = 60.0
"""Seconds that git may take for one answer, as for the commits of a repository."""


def run_git(
    folder: str,
    *arguments: str,
    most: int = disk.LARGEST,
    text: bytes = b"",
    codes: Container[int] = (0,),
) -> bytes | disk.Problem:
    """What git writes to its standard output, given ``text`` on its input; a Problem where it exits
    with none of some ``codes``, with the first line of its errors. It ends when it takes too long,
    or writes more than ``most`` bytes. It starts at the root of the repository that has the folder:
    in the folder itself it might take committed files for a bare repository.
    """
    around = repository_around(Path(os.path.realpath(folder)))
    if around is None:
        return disk.Problem(folder, "is in no repository of git")
    written, said = bytearray(), bytearray()

    def take(data: bytes) -> None:
        written.extend(data)
        if len(written) > most:
            raise OSError(f"git wrote more than {most >> 20} MB")

    def tell(data: bytes) -> None:
        said.extend(data[: _MOST_ERRORS - len(said)])

    from drive_trace.storage.processes import run_shell  # noqa: PLC0415 - few commands ask git

    command = f"exec {shlex.join((*_GIT, *arguments))}"
    try:
        ran = run_shell(
            command,
            seconds=_PATIENCE,
            take=take,
            text=text,
            folder=str(around.root),
            environment=_ENVIRONMENT,
            errors=tell,
        )
    except OSError as error:
        return disk.Problem(folder, f"git cannot be asked: {disk.why(error)}")
    if ran.problem is not None or ran.code not in codes:
        first = said.decode("utf-8", "replace").partition("\n")[0]
        ended = ran.problem or f"exited with {ran.code}"
        return disk.Problem(folder, f"git {ended}{f': {first}' if first else ''}")
    return bytes(written)


class Repository:
    """A repository as git tells of it. Where git is missing or does not answer, it tracks nothing
    and ignores nothing, so that a search finds more, and never less.
    """

    def __init__(self, root: Path, git_folder: Path) -> None:
        self.root = root
        # It is named, so that git looks for no other repository above it.
        self._named = (f"--git-dir={git_folder}", f"--work-tree={root}")

    @cached_property
    def tracked(self) -> Mapping[str, str]:
        """What git calls the contents of the files in its index, by their paths from the root with
        ``/`` in between. Links and submodules have none.
        """
        return {
            name: facts[2] if facts[1].startswith(MODE_OF_FILE) else ""
            for name, facts in self._index.items()
        }

    def is_sparse(self, name: str) -> bool:
        """Whether a sparse checkout may leave out what it tracks under this name."""
        return self._index[name][0] == "S"

    @cached_property
    def _index(self) -> Mapping[str, Sequence[str]]:
        """State, mode, hash and stage of what is in git's index, by its path."""
        asked = (*self._named, "ls-files", "-z", "-s", "-t")
        found = run_git(str(self.root), *asked)
        return {name: facts for facts, name in _listed(found)}

    def ignored(self, paths: Iterable[str]) -> frozenset[str]:
        """Those of some real paths in the repository that git ignores and does not track."""
        modules = (name for name, facts in self._index.items() if facts[1] == _MODE_OF_MODULE)
        inside = tuple(f"./{name}/" for name in modules)
        start = len(os.path.join(self.root, ""))  # noqa: PTH118 - with a separator
        # Git refuses all where one stands in a submodule. Without ``./`` a name such as ``:!x``
        # would be a pattern.
        inner = ((f"./{each[start:]}".replace(os.sep, "/"), each) for each in paths)
        names = {name: each for name, each in inner if not name.startswith(inside)}
        if not names:
            return frozenset()
        asked = (*self._named, "check-ignore", "-z", "--stdin")
        text = b"\0".join(map(os.fsencode, names))
        found = run_git(str(self.root), *asked, text=text, codes=(0, 1))  # some are, or none is
        told = [] if isinstance(found, disk.Problem) else map(os.fsdecode, found.split(b"\0"))
        return frozenset(names[each] for each in told if each in names)


def repository_around(
    folder: Path, known: Callable[[Path, Path], Repository] = Repository
) -> Repository | None:
    """The innermost repository that an absolute folder is in, or is the root of; ``known`` gives
    that with a root and a git folder.
    """
    return next(repositories_around(folder, known), None)


def repositories_around(
    folder: Path, known: Callable[[Path, Path], Repository] = Repository
) -> Iterator[Repository]:
    """The same, and those around that."""
    for each in (str(folder), *disk.folders_above(str(folder))):
        if (git_folder := disk.git_folder_of(each)) is not None:
            yield known(Path(each), git_folder)


def vouching_for(path: Path) -> tuple[Path, str] | None:
    """The root of the outermost repository that tracks what has a real path, as anybody can make
    another one inside of it, or else of the innermost that it is in; and the path from there.
    """
    around = repositories_around(path.parent, while_indexed)
    found = [(each, path.relative_to(each.root).as_posix()) for each in around]
    found[1:] = [(each, name) for each, name in found[1:] if name in each.tracked]
    return (found[-1][0].root, found[-1][1]) if found else None


def while_indexed(root: Path, git_folder: Path) -> Repository:
    """One repository for many traces, until its index changes: starting git takes long."""
    index = git_folder / "index"
    return _known(root, git_folder, index.stat().st_mtime_ns if index.exists() else 0)


@lru_cache(maxsize=64)
def _known(root: Path, git_folder: Path, _changed: int) -> Repository:
    return Repository(root, git_folder)


def standing(path: str) -> list[Path]:
    """Where something stands that somebody named: where its links lead, and, where that is another
    place, as it is written, but for links above its repository.
    """
    try:
        real, written = Path(os.path.realpath(path)), Path(os.path.abspath(path))  # noqa: PTH100
    except (OSError, ValueError):  # as in a current folder that is gone
        return [Path(path)]
    around = repository_around(written) if real != written else None
    if around is not None:
        written = Path(os.path.realpath(around.root), written.relative_to(around.root))
    return [*dict.fromkeys((real, written))]


def has_content(data: bytes, named: str) -> bool:
    """Whether a file has the content that git calls by this name."""
    import hashlib  # noqa: PLC0415 - loads OpenSSL, which takes long

    algorithm = "sha1" if len(named) == _LENGTH_OF_SHA1 else "sha256"
    found = hashlib.new(algorithm, b"blob %d\0" % len(data), usedforsecurity=False)
    found.update(data)
    return found.hexdigest() == named


def indexed_records(path: Path) -> Sequence[str] | None:
    """The records of a trace as git's index has it; None where git does not say."""
    place = vouching_for(path)
    return records_in(place[0], f":./{place[1]}") if place is not None else None


class CommittedTraces:
    """What git's ``HEAD`` has of traces, one after another. Git lists the files of a repository
    once, and is asked for the content of those alone that have another one now: starting it takes
    longer than checking a small trace.
    """

    def __init__(self) -> None:
        self._hashes = cache(partial(hashes_in, commit="HEAD"))

    def records(self, path: str, now: Sequence[str]) -> Sequence[str] | None:
        """The records of a trace, which has these ``now``; None outside of a repository, of a file
        that is not committed, and where git does not say.
        """
        place = place_of(path)
        committed = self._hashes(place[0]).get(place[1]) if place is not None else None
        if place is None or committed is None:
            return None
        is_same = has_content("\n".join(now).encode(errors="replace"), committed)
        return now if is_same else records_in(place[0], committed)


def committed_records(path: str) -> Sequence[str] | None:
    """The records of one trace as git's ``HEAD`` has it, or None, as above."""
    place = place_of(path)
    return records_in(place[0], f"HEAD:./{place[1]}") if place is not None else None


def place_of(path: str) -> tuple[Path, str] | None:
    """The root of the repository that vouches for a trace, and the trace's path from there."""
    if path == disk.STDIN:
        return None
    try:
        known = getattr(path, "real", "")  # as a search has found it
        real = Path(known or disk.inside(path, Path(path).parent).resolve(strict=True))
    except (OSError, RuntimeError, ValueError):
        return None
    return vouching_for(real)


def is_tracked_without(path: str, suffix: str) -> bool | None:
    """Whether git tracks a trace, and not the file beside it under its name with a suffix. None
    where git does not say.
    """
    place = place_of(path)
    if place is None:
        return None
    root, name = place
    asked = ("--literal-pathspecs", "ls-files", "-z", "--", name, f"{name}{suffix}")
    found = run_git(str(root), *asked)
    if isinstance(found, disk.Problem):
        return None
    return {*found.split(b"\0")} == {os.fsencode(name), b""}


def pages_of(root: Path) -> tuple[str, Container[str]]:
    """Where the web shows the files of a repository as its ``HEAD`` has them, and which these are;
    nothing where git does not know that this was pushed to GitHub or GitLab.
    """
    folder, commit = str(root), commit_named("HEAD", str(root))
    url = run_git(folder, "config", "--get", "remote.origin.url")
    known = re.fullmatch(_FORGE, url.decode(errors="replace")) if isinstance(url, bytes) else None
    if commit is None or known is None:
        return "", ()
    asked = ("for-each-ref", "--count=1", f"--contains={commit}", "refs/remotes/origin")
    pushed = run_git(folder, *asked)
    if not pushed or isinstance(pushed, disk.Problem):
        return "", ()
    inner = "/-" * (known[1] == "gitlab")
    return f"https://{known[1]}.com/{known[2]}{inner}/blob/{commit}", hashes_in(root, commit)


def hashes_in(root: Path, commit: str) -> Mapping[str, str]:
    """What git calls the contents of all files of a commit; nothing where it does not say."""
    found = known_hashes(root, commit)
    return {} if isinstance(found, disk.Problem) else found


def known_hashes(root: Path, commit: str, mode: str = "") -> Mapping[str, str] | disk.Problem:
    """The same of the files with such a mode; a Problem where git does not say."""
    found = run_git(str(root), "ls-tree", "-r", "-z", commit)
    if isinstance(found, disk.Problem):
        return found
    # The facts: mode, kind and hash.
    return {name: facts[-1] for facts, name in _listed(found) if facts[0].startswith(mode)}


def _listed(found: bytes | disk.Problem) -> Iterator[tuple[list[str], str]]:
    """The facts and the name of each file in a list of git's; nothing where it does not say."""
    for each in [] if isinstance(found, disk.Problem) else found.split(b"\0"):
        facts, _, name = each.partition(b"\t")
        if name:
            yield facts.decode().split(), os.fsdecode(name)


def records_in(root: Path, content: str) -> Sequence[str] | None:
    """The records of what git calls by this name; None where it does not say."""
    found = run_git(str(root), "cat-file", "blob", content)
    return None if isinstance(found, disk.Problem) else disk.records_of(found)


@cache
def committed_file(commit: str, path: str) -> bytes | None:
    """A small file as a commit has it, which is named by its hash; None where there is none."""
    folder, name = os.path.split(path)
    real = Path(os.path.realpath(folder), name)  # git, too, starts from where a link leads
    around = repository_around(real.parent)
    if around is None or real not in _committed_paths(commit, around.root):
        return None
    asked = ("cat-file", "blob", f"{commit}:{real.relative_to(around.root).as_posix()}")
    found = run_git(str(around.root), *asked, most=disk.SMALL)
    return None if isinstance(found, disk.Problem) else found


@cache
def _committed_paths(commit: str, root: Path) -> frozenset[Path]:
    """The files that a commit has and whose paths are like those of our settings. They are asked
    for together: most folders have none, and starting git for each takes long.
    """
    names = hashes_in(root, commit)
    return frozenset(root / each for each in names if "drive-trace" in each)


def commit_named(name: str, folder: str = ".") -> str | None:
    """The hash of a commit of a folder's repository; None where there is none, or where it is not
    clear what the name means.
    """
    found = run_git(folder, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    commit = None if isinstance(found, disk.Problem) else found.decode().strip()
    is_clear = commit is None or name in ("HEAD", commit) or not _why_unclear(name, folder)
    return commit if is_clear else None


def is_shallow(folder: str) -> bool:
    """Whether a folder's repository lacks the parents of some commits."""
    return run_git(folder, "rev-parse", "--is-shallow-repository") == b"true\n"


def why_no_commit(name: str, folder: str = ".") -> str:
    """Why a folder's repository has no commit of a name, in a sentence."""
    if ".." in name:
        return f"{visible(name)} is a range of commits; name one commit"
    if repository_around(Path(os.path.realpath(folder))) is None:
        where = "the current folder" if folder in (".", disk.STDIN) else visible(folder)
        return f"{where} is in no repository of git"
    return _why_unclear(name, folder) or f"{visible(name)} is no commit that is here; fetch it"


def _why_unclear(name: str, folder: str) -> str:
    """Why a commit's name may mean several tags and branches, or a hash, too; empty where it is
    clear. git would take the first, which somebody may have pushed.
    """
    named = re.split(r"[~^:]|@\{", name)[0]  # a plain ``@`` may be part of it
    if named in ("", "@", "HEAD"):
        return ""
    is_whole = named.startswith("refs/")
    kinds = [named] if is_whole else [each.format(named) for each in _KINDS]
    found = run_git(folder, "for-each-ref", "--format=%(refname)", *kinds)
    if isinstance(found, disk.Problem):
        return found.reason
    refs = sorted({*kinds}.intersection(map(os.fsdecode, found.split())), key=kinds.index)
    if is_whole and not refs:  # git would look for refs/tags/refs/heads/main, too
        return f"{visible(named)} is not here; fetch it"
    # git takes a ref before an abbreviated hash, also in what ``git describe`` writes.
    number = re.fullmatch(r"(?:.*-g)?([0-9a-fA-F]{4,})", named)
    if refs and number and run_git(folder, "rev-parse", f"--disambiguate={number[1]}"):
        refs.append("a hash")
    return visible(f"{named} may mean {listed(refs, 'or')}; write it in full") * (len(refs) > 1)


def tree_state(folder: str, trace: str) -> tuple[str | None, bool | None]:
    """The commit of the working tree around a folder, and whether the tree is as in that commit,
    apart from the ``trace`` that is written to, files with a trace's name, and the records beside
    traces; None where nobody knows.
    """
    commit = commit_named("HEAD", folder)
    around, place = repository_around(Path(os.path.realpath(folder))), place_of(trace)
    own = [place[1]] if place is not None and around and place[0] == around.root else []
    globs = (*TRACE_GLOBS, *(f"**/*{each}" for each in RECORD_SUFFIXES))
    but = [
        f":(exclude,top,{kind}){name}{lock}"
        for kind, names in (("glob", globs), ("literal", own))
        for name in names
        for lock in ("", ".lock")
    ]
    return commit, _is_clean(around, commit, but) if commit and around else None


def _is_clean(repository: Repository, commit: str, but: Sequence[str]) -> bool | None:
    """Whether files that git tracks, in submodules, too, are as in a commit, and none is new, apart
    from some pathspecs. ``git status`` would run the filters that attributes and configuration
    name, and hide what these say.
    """
    root = repository.root

    staged, added, stale = (
        run_git(str(root), *each, "--", ":(top)", *but)
        for each in (
            ("diff-index", "--cached", "--ignore-submodules=none", commit),
            ("ls-files", "--others", "--exclude-standard", "--directory"),
            ("diff-files", "-z", "--ignore-submodules=dirty"),
        )
    )
    if not (isinstance(staged, bytes) and isinstance(added, bytes) and isinstance(stale, bytes)):
        return None
    words = stale.split(b"\0")  # of each file what is told, and then its name
    told = zip(words[::2], words[1::2], strict=False)
    if staged or added or not all(_has_known_content(root, *each) for each in told):
        return False
    for name, facts in repository._index.items():
        module = root / name
        git_folder = disk.git_folder_of(module) if facts[1] == _MODE_OF_MODULE else None
        if git_folder is not None:
            clean = _is_clean(Repository(module, git_folder), facts[2], but)
            if not clean:
                return clean
    return True


def _has_known_content(root: Path, told: bytes, name: bytes) -> bool:
    """Whether a file that was written has the mode and content that git knows all the same."""
    before, now, named, _, kind = told.decode().lstrip(":").split()
    if kind != "M" or before != now or not before.startswith(MODE_OF_FILE):
        return False
    try:
        return has_content(disk.read_regular(root / os.fsdecode(name), disk.LARGEST), named)
    except OSError:
        return False
