"""The report as HTML: well formed, inert but for its own script, readable, and honest."""

import ast
import base64
import hashlib
import itertools
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from drive_trace.report.contents import report_on
from drive_trace.report.html import SCRIPT, STYLE, report_html
from drive_trace.report.sections import report_markdown
from drive_trace.text.document import Html
from drive_trace.text.document import name as named
from drive_trace.text.html import join, tag, words
from tests.report.support import HOSTILE, hostile_trace, html_of, report_of
from tests.scorecard.support import PASSED, TRIPLES, event, graded
from tests.support.fixtures import trace
from tests.support.scored import read_log

_VOID = {"meta", "line", "rect", "path", "input"}
_CLOSED = {"line", "rect", "path"}
_IMPLIED = {"tr": {"tr", "td", "th"}, "td": {"td", "th"}, "th": {"td", "th"}, "li": {"li"}}
"""What ends where one of these begins, as HTML has it."""
_FORBIDDEN = {"img", "iframe", "object", "embed", "link", "base", "form"}


class Page(HTMLParser):
    """Reads a page, and checks what every page has to keep to."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in _FORBIDDEN
        assert tag != "script" or attrs == [("type", "module")]
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in {"style", "src"}
            assert name != "href" or re.match(r"#|https?://|vscode://file/", value or "")
        while self.open and self.open[-1] in _IMPLIED.get(tag, ()):
            self.open.pop()
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _CLOSED
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        while self.open[-1] in _IMPLIED and self.open[-1] != tag:
            self.open.pop()
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & {*self.open}:
            self.said += data

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for element, attributes in self.elements if element == name]


def page_of(*traces: str) -> Page:
    return Page(report_html(report_of(*traces), "drive-trace test"))


# Whatever a trace says


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_what_a_trace_says_is_text(text: str) -> None:
    page = page_of(hostile_trace(text))
    # What is not text would change what the page is made of.
    plain = page_of(hostile_trace("plain"))
    assert [name for name, _ in page.elements] == [name for name, _ in plain.elements]
    assert all(each.isprintable() or each == "\n" for each in page.said)
    cut = text if len(text) <= 120 else text[:119]
    visible = "".join(each if each.isprintable() else f"<U+{ord(each):04X}>" for each in cut)
    assert visible in page.said


def test_ids_of_elements_never_come_from_a_trace_and_are_unique() -> None:
    page = page_of(*map(hostile_trace, HOSTILE))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-z]+(-[0-9a-z]+)*", each or "") for each in ids)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_markdown_shows_it_as_code(text: str) -> None:
    said = report_markdown(report_of(hostile_trace(text)))
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", said)
    outside = re.sub(
        r"^<details><summary>[A-Z][a-z :,]+</summary>$|^</details>$",
        "",
        outside,
        flags=re.MULTILINE,
    )
    assert all(line.isprintable() for line in said.split("\n"))
    for mark in ("`", "<", "[a]", "**bold**", "alert"):
        assert mark not in outside


def test_markup_escapes_whatever_is_not_markup() -> None:
    assert tag("p", '<b> & "q" \'', class_="<") == ('<p class="&lt;">&lt;b&gt; &amp; "q" \'</p>')
    assert tag("p", tag("b", "x"), None, [tag("i", "<")]) == "<p><b>x</b><i>&lt;</i></p>"
    assert tag("p", words(named("a" * 200, 5))) == "<p><bdi>aaaa…</bdi></p>"
    # Two pieces of markup that are put together by hand are text again.
    assert tag("p", tag("b", "x") + "") == "<p>&lt;b&gt;x&lt;/b&gt;</p>"
    assert join([]) == ""


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("script", {}),
        ("img", {}),
        ("a", {"href": "javascript:alert(1)"}),
        ("a", {"href": "ftp://example.org"}),
        ("a", {"href": "https://example.org/'><script>"}),
        ("p", {"onclick": "x"}),
        ("p", {"style": "x"}),
        ("p", {"src": "x"}),
        ("rect", {"fill": "url(https://example.org/x.svg)"}),
    ],
)
def test_markup_refuses_what_could_run_or_fetch(name: str, attributes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="a report"):
        tag(name, **attributes)


def test_markup_is_made_in_one_module() -> None:
    package = Path(__file__).parents[2] / "server/drive_trace"
    makers = {
        path.name
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == Html.__name__
    }
    assert makers == {"html.py"}


def test_the_policy_allows_one_style_sheet_and_one_script_and_nothing_else() -> None:
    (policy,) = [
        each["content"] or ""
        for each in page_of(trace(PASSED)).all("meta")
        if each.get("http-equiv") == "Content-Security-Policy"
    ]
    digests = [
        base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()
        for each in (STYLE, SCRIPT)
    ]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert html_of(PASSED).count("<script") == 1
    assert "</script" not in SCRIPT
    for fetching in ("fetch(", "import(", "XMLHttpRequest", "innerHTML", "eval(", "src="):
        assert fetching not in SCRIPT
    assert "url(" not in STYLE
    assert "@import" not in STYLE


# For everybody


def test_landmarks_headings_and_tables_are_named() -> None:
    page = page_of(trace(event("dispatch-start"), event("round-start"), PASSED))
    names = [name for name, _ in page.elements]
    for landmark in ("header", "nav", "main", "footer", "h1"):
        assert names.count(landmark) == 1
    levels = [int(name[1]) for name in names if re.fullmatch("h[1-6]", name)]
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert names.count("caption") == names.count("table")
    assert all(each.get("scope") in ("col", "row") for each in page.all("th"))
    ids = {each["id"] for _, each in page.elements if "id" in each}
    for _, attributes in page.elements:
        assert set((attributes.get("aria-labelledby") or "").split()) <= ids
        href = attributes.get("href") or "#"
        assert not href.startswith("#") or href[1:] in {*ids, ""}
    drawings = [each for each in page.all("svg") if each.get("role") == "group"]
    assert all(each["aria-label"] for each in drawings)
    assert names.count("desc") == len(drawings) == 1
    for region in page.all("div"):
        if region.get("role") == "region":
            assert region["tabindex"] == "0"
            assert region["aria-label"]


# Each line is a link to where it stands, and what nobody has recorded is said at the verdict


def test_the_lines_that_the_headline_and_the_tables_name_are_links() -> None:
    page = html_of(event("dispatch-start"), event("dispatch-end", result="no"))
    (caveat,) = re.findall(r"<p>⚠ (.*?)</p>", page)
    assert caveat == '1 line rejected (line <a href="#l-0-2">2</a>), not counted.'
    assert '1 (line <a href="#l-0-2">2</a>)' in page
    assert '<a href="#l-0-1"><bdi>' in page  # the dispatch


def test_a_page_leads_to_pull_requests_and_to_files_in_vs_code() -> None:
    refs = ("https://example.org/pull/1", "javascript:alert(1)", "#481", 'https://x/"><b>')
    lines = [event("slice-completed", pr_ref=each) for each in refs]
    specs = [event("spec-authored", spec_path=f"projects/{each}") for each in ("x/a b.md", "../k")]
    report = report_of(trace(*lines, *specs))
    hrefs = re.findall(r'href="(\w+:[^"]*)"', report_html(report, "test"))
    assert hrefs == ["https://example.org/pull/1"]
    to_spec = ["vscode://file/w/projects/x/a%20b.md"]
    roots = {"projects/x/wip/trace": to_spec, "wip/drive-trace/x": to_spec, "wip/run/trace": []}
    for where, expected in roots.items():
        at_hand = report._replace(addresses={"a.jsonl": f"vscode://file/w/{where}.jsonl"})
        hrefs = re.findall(r'href="(vscode:[^"]*)"', report_html(at_hand, "test"))
        assert hrefs == expected


def test_a_sign_within_a_line_shifts_no_line_of_those_that_the_page_shows_as_they_stand() -> None:
    odd = event("round-start", run="a").rstrip().replace("}", ',"note":"\x1e\x85\u2028"}')
    text = trace(event("dispatch-start", run="a"), odd, event("dispatch-end", run="a"))
    page = page_of(text)
    (raw,) = (each["value"] or "" for each in page.all("data") if each.get("id") == "raw")
    shown = zlib.decompress(base64.b64decode(raw)).decode().split("\n")
    rows = [each["id"] for each in page.all("tr") if "id" in each]
    assert rows == ["l-0-1", "l-0-2", "l-0-3"]
    assert [each.get("class") for each in page.all("tr") if "id" in each] == [
        None,
        "rejected",
        None,
    ]
    assert shown == text.rstrip("\n").split("\n")


def test_a_page_of_several_runs_opens_at_the_one_that_halted() -> None:
    halt = event("falsified-assumption", run="b")
    page = page_of(trace(event("dispatch-end", run="a"), halt))
    runs = [each for each in page.all("details") if each.get("class") == "run"]
    assert ["open" in each for each in runs] == [True, False]
    assert (
        "Look first at b: not computable — missing: external correctness signal · halted once"
        in page.said
    )
    headline = html_of(event("dispatch-end", run="a"), halt).partition("</header>")[0]
    assert f'<a href="#{runs[0]["id"]}"><bdi>b</bdi></a>' in headline


def test_a_page_of_several_runs_without_a_problem_leads_nowhere() -> None:
    page = page_of(trace(event("dispatch-end", run="a"), event("dispatch-end", run="b")))
    assert "Look first" not in page.said
    assert all("open" not in each for each in page.all("details") if each.get("class") == "run")


def test_an_assertion_says_which_rejected_line_may_be_what_is_missing() -> None:
    lines = [event("dispatch-start"), event("brief-issued", brief_disposition="another")]
    said = page_of(trace(*lines)).said
    assert "Readers reject brief-issued on line 2, which may be what is missing." in said


def test_tables_of_metrics_name_dispatches_and_rounds() -> None:
    ids = {"dispatch_id": "77ce3f13-a067-4f13-a4e0-93dbae3137ae", "round_id": "r"}
    rounds = [event(f"round-{each}", **ids) for each in ("start", "end")]
    said = report_markdown(report_of(trace(event("dispatch-start", **ids), *rounds)))
    assert "| `implementer D1 R1` | 1 |" in said
    assert "| `implementer D1 R1, round 1` | 21m (1,260,000 ms) |" in said
    assert ids["dispatch_id"] not in said


def test_a_name_holds_no_link_whatever_it_says() -> None:
    rejected = trace(event("round-start"), graded("pass", "failed", "pass"))
    logs = [read_log(trace(PASSED), "a.jsonl"), read_log(rejected, "see line 1.jsonl")]
    page = report_html(report_on(logs), "test")
    said = '1 correctness line rejected (line <a href="#l-1-2">2</a>), not counted.'
    assert f"⚠ <bdi>see line 1.jsonl</bdi>: {said}" in page


def test_that_nobody_has_graded_a_run_is_said_at_its_verdict() -> None:
    page = page_of(trace(event("dispatch-start")))
    assert page.said.count("missing: external correctness signal") == 1
    assert page.said.count("no correctness signal was recorded") == 1  # why Tier 2 is hidden


# No colour and no word says "good" without a correctness signal


@pytest.mark.parametrize("triple", TRIPLES)
def test_green_is_for_correct_alone(triple: tuple[str | None, ...]) -> None:
    page = page_of(trace(event("dispatch-end"), graded(*triple), event("tokens-recorded")))
    classes = {word for _, each in page.elements for word in (each.get("class") or "").split()}
    is_correct = set(triple) == {"pass"}
    assert ("correct" in classes) == is_correct
    assert ("Nothing here says that the work is right" in page.said) != is_correct
    assert ("Tier 2, efficiency: hidden" in page.said) != is_correct
    assert ("1,912,408" in page.said) == is_correct


def test_green_in_the_style_sheet() -> None:
    greens = set(re.findall(r"([^{}]+)\{[^{}]*var\(--correct", STYLE))
    assert all(".correct" in selector for selector in greens)


def test_of_several_runs_the_headline_is_green_only_if_all_are_correct() -> None:
    for text, kind in (
        (trace(PASSED, graded("pass", "pass", "pass", run="b")), "correct"),
        (trace(PASSED, event("dispatch-end", run="b")), "not-computable"),
    ):
        (headline,) = [
            each["class"]
            for each in page_of(text).all("div")
            if (each.get("class") or "").startswith("headline")
        ]
        assert headline == f"headline {kind}"


def test_runs_are_in_the_order_of_interest_with_the_reasons_of_halts() -> None:
    halt = event("falsified-assumption", run="b", assumption_summary="It repeats itself")
    runs = [graded("pass", "pass", "pass", run="a"), event("dispatch-end", run="c"), halt]
    report = report_of(trace(*runs, graded("pass", "fail", "pass", run="d")))
    said = report_markdown(report)
    assert re.findall(r"^\| `(.)` ", said, re.MULTILINE) == ["d", "b", "c", "a"]
    assert "- `b`: No dispatch was recorded. Halted once: `It repeats itself` (line 3)." in said
    page = Page(report_html(report, "test"))
    names = re.findall(r"CORRECT|INCORRECT|not computable", page.said.partition("Each run")[2])
    assert names[:2] == ["INCORRECT", "not computable"]
    runs_of = [each["id"] for each in page.all("details") if each.get("class") == "run"]
    others = page_of(trace(*runs[1::-1])).all("details")
    again = [each["id"] for each in others if each.get("class") == "run"]
    assert again == [runs_of[2], runs_of[3]]


def test_rejected_and_unknown_lines_are_told() -> None:
    text = trace(PASSED, graded("pass", "failed", "pass"), event("made-up"), "{")
    for said in (page_of(text).said, report_markdown(report_of(text))):
        assert "1 valid event. Not counted: 2 invalid lines (rejected) and 1 of unknown" in said
        assert "1 correctness line rejected (line 2), not counted" in said


# Size


def test_long_tables_are_cut_and_say_so() -> None:
    lines = [event("dispatch-end", dispatch_id=f"d-{number}") for number in range(500)]
    lines += [event("project-started", run=f"run-{number}") for number in range(500)]
    text = html_of(*lines)
    assert len(text) < 2_000_000
    page = Page(text)
    assert "40 of 500 dispatches are shown, those with the most rounds" in page.said
    assert "… and 460 more rows" in page.said
    assert "… and 201 more runs" in page.said


def test_markdown_fits_a_comment_begins_with_the_runs_and_folds_the_rest() -> None:
    lines = [event("dispatch-end", run=f"run-{n % 90}", dispatch_id=f"d-{n}") for n in range(3000)]
    said = report_markdown(report_of(trace(*lines)))
    assert len(said) <= 65_536
    table, _, rest = said.partition("<details>")
    assert "| run | verdict | halts | work | clock |" in table
    assert "| `run-19` | not computable — missing: external correctness signal |" in table
    assert rest.count("<details>") + 1 == said.count("</details>") == 6
    assert "runs in full: the JSON report has them all" in said
    short = report_markdown(report_of(trace(PASSED)))
    assert "| run | verdict |" not in short
    assert "*Tier 1, correctness:*" in short.partition("<details>")[0]
