"""Links: files of the workspace, tickets and pull requests."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drive_trace.features import LinkOptions
from drive_trace.storage.linked_files import linked_files
from tests.support.moving import links_of

OPTIONS = LinkOptions(
    ticket_url="https://linear.app/shop/issue/{ref}",
    pull_request_url="https://github.com/shop/checkout/pull/{ref}",
)


def test_specs_plans_and_other_files() -> None:
    assert links_of("""
        EVENT{"event_type":"spec-authored","spec_path":"projects/a/spec.md"}
        EVENT{"event_type":"plan-amended","plan_path":"/work/a/plan.md","project_run_id":"two"}
        EVENT{"event_type":"falsified-assumption","artifact_path":"projects/a/spec.md"}
        EVENT{"event_type":"retro-landed"}
    """) == [
        ("projects/a/spec.md", "projects/a/spec.md"),
        ("/work/a/plan.md", "/work/a/plan.md"),
        ("projects/a/spec.md", "projects/a/spec.md"),
    ]


def test_what_is_not_there_is_no_link() -> None:
    fixture = """
        EVENT{"event_type":"spec-authored","spec_path":"gone.md"}
        EVENT{"event_type":"spec-authored","spec_path":"there.md"}
        EVENT{"event_type":"spec-amended","spec_path":"gone.md"}
    """
    assert links_of(fixture, gone=["gone.md"]) == [("there.md", "there.md")]


def test_tickets_and_pull_requests_lead_where_the_settings_say() -> None:
    fixture = """
        EVENT{"event_type":"triage-verdict","input_ref":"SHOP-214"}
        EVENT{"event_type":"slice-started","linear_ref":"SHOP 2/14"}
        EVENT{"event_type":"slice-completed","pr_ref":"#481"}
        EVENT{"event_type":"slice-completed","pr_ref":null,"slice_slug":"other"}
    """
    assert links_of(fixture, OPTIONS) == [
        ("SHOP-214", "https://linear.app/shop/issue/SHOP-214"),
        ("SHOP 2/14", "https://linear.app/shop/issue/SHOP%202%2F14"),
        ("#481", "https://github.com/shop/checkout/pull/481"),
    ]
    assert links_of(fixture) == []


def test_web_addresses_lead_where_they_say() -> None:
    address = "https://github.com/shop/checkout/pull/481#issuecomment-1"
    assert links_of(f"""
        EVENT{{"event_type":"slice-completed","pr_ref":"{address}"}}
        EVENT{{"event_type":"spec-authored","spec_path":"https://docs.example/spec?v=2"}}
    """) == [(address, address), ("https://docs.example/spec?v=2",) * 2]


@pytest.mark.parametrize(
    "address",
    [
        "http://example.com/",
        "https://example.com@elsewhere.example/",
        "https://",
        "https:// example.com",
        "https://example.com/<script>",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "command:workbench.action.quit",
    ],
)
def test_other_addresses_are_no_links(address: str) -> None:
    assert (
        links_of(f"""
        EVENT{{"event_type":"slice-completed","pr_ref":"{address}"}}
    """)
        == []
    )


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/workshop/spec.md",
        "../spec.md",
        "a/../../spec.md",
        "..\\\\spec.md",
        "\\\\\\\\server\\\\spec.md",
        "C:\\\\spec.md",
        "a\\u0000b",
        "",
        " ",
        "http://example.com/spec.md",
    ],
)
def test_paths_that_lead_out_of_the_workspace_are_no_links(path: str) -> None:
    assert (
        links_of(f"""
        EVENT{{"event_type":"spec-authored","spec_path":"{path}"}}
    """)
        == []
    )


def test_without_a_workspace_no_path_is_a_link() -> None:
    fixture = 'EVENT{"event_type":"spec-authored"}'
    assert links_of(fixture, folders=()) == []
    assert links_of("<eof>") == []


def test_broken_lines_and_text_beyond_the_bmp() -> None:
    assert links_of(
        """
        EVENT{"event_type":"spec-authored","spec_kind":"🚀","spec_path":"🚀/日本.md"}
        EVENT{"event_type":"slice-started","linear_ref":"🚀-1","slice_slug":"a"
        EVENT{"event_type":"slice-started","linear_ref":"\\u0041-1","slice_slug":"🚀"}
        EVENT{"event_type":"slice-started","linear_ref":"\\ud800","slice_slug":"?"}
        """,
        OPTIONS,
    ) == [
        ("🚀/日本.md", "🚀/日本.md"),
        ("🚀-1", "https://linear.app/shop/issue/%F0%9F%9A%80-1"),
        ("\\u0041-1", "https://linear.app/shop/issue/A-1"),
    ]


# Files


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with a project, and a secret beside it."""
    (tmp_path / "secret.md").write_text("no", encoding="utf-8")
    project = tmp_path / "work" / "repository" / "projects" / "a"
    project.mkdir(parents=True)
    for name in ("spec.md", "trace.jsonl"):
        (project / name).write_text(name, encoding="utf-8")
    (project / "stolen.md").symlink_to(tmp_path / "secret.md")
    (project / "again.md").symlink_to(project / "spec.md")
    return tmp_path / "work"


def find(named: str, workspace: Path, folder: str = "") -> str | None:
    trace = workspace / "repository/projects/a/trace.jsonl"
    names = ["first.md", named, "last.md"]
    found = linked_files(names, trace, [workspace / "not-there", workspace / folder])
    assert found.keys() <= {named}
    return found[named].relative_to(workspace).as_posix() if found else None


SPEC = "repository/projects/a/spec.md"


def test_a_path_is_looked_for_from_the_top_and_towards_the_trace(workspace: Path) -> None:
    assert find("repository/projects/a/spec.md", workspace) == SPEC
    assert find("projects/a/spec.md", workspace) == SPEC
    assert find("spec.md", workspace) == SPEC
    assert find(str(workspace / SPEC), workspace) == SPEC


def test_a_project_alone_can_be_the_workspace(workspace: Path) -> None:
    assert find("projects/a/spec.md", workspace, "repository/projects/a") == SPEC


def test_no_symbolic_link_is_followed(workspace: Path) -> None:
    project = workspace / "repository/projects/a"
    (workspace / "specs").symlink_to(project)
    (project / "loop.md").symlink_to("loop.md")
    (project / "out").symlink_to("../../../..")
    linked = (
        "again.md",
        "specs/spec.md",
        "loop.md",
        "out/secret.md",
        f"out/{workspace.name}/{SPEC}",
    )
    assert [find(name, workspace) for name in linked] == [None] * 5


def test_a_workspace_may_be_reached_through_a_link(workspace: Path) -> None:
    link = workspace.parent / "link"
    link.symlink_to(workspace)
    assert find("spec.md", link) == SPEC


def test_nothing_outside_the_workspace_is_looked_at(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = workspace.parent
    (workspace / "out").symlink_to(outside)
    (workspace / "out.md").symlink_to("../secret.md")
    looked_at: list[str] = []
    for name in ("lstat", "stat", "readlink"):
        monkeypatch.setattr(os, name, _noting(looked_at, getattr(os, name)))
    names = ["out/secret.md", "out.md", "stolen.md", "../secret.md", str(outside / "secret.md")]
    assert linked_files(names, workspace / "repository/projects/a/trace.jsonl", [workspace]) == {}
    above = [str(each) for each in (workspace, *workspace.parents)]  # to find out where it is
    found = {each for each in looked_at if each not in above}
    assert f"{workspace}/out.md" in found
    assert all(each.startswith(f"{workspace}/") for each in found)


def _noting(calls: list[str], call: Callable[..., Any]) -> Callable[..., Any]:
    def noted(path: Any, *given: Any, **named: Any) -> Any:
        calls.append(os.fspath(path))
        return call(path, *given, **named)

    return noted


@pytest.mark.parametrize(
    "named",
    [
        "gone.md",
        "projects/a",
        "stolen.md",
        "../secret.md",
        "projects/../../../secret.md",
        "/etc/passwd",
        "",
        "a\0b",
        "\ud800",
        "x" * 5000,
    ],
)
def test_what_is_not_there_or_outside_is_not_found(named: str, workspace: Path) -> None:
    assert find(named, workspace) is None
    assert linked_files([named], None, []) == {}
