"""
What tenants write reaches terminals, tables, logs, events and pages only spelled out.
"""

import csv
import io
import json
import logging
import sys

import pytest
import yaml

from adapters.cli.main import run
from adapters.cli.terminal.output import Paint, Table, as_text, note, say
from adapters.kube.status.k8s_events import Notice, Regarding, _fit
from adapters.machine.csv_cells import CsvWriter, csv_rows
from adapters.observe.log import JsonLines, TextLines
from adapters.reports.page.markdown import as_markdown
from adapters.reports.page.page import Page, Section, Text

EVIL = "q\x1b]0;OWNED\x07\x1b[2J\x9b31m\u202etxt\r\nfake line: OK"
GPUS = [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "4"}}}]
SPREAD = {"maxSkew": 1, "topologyKey": EVIL, "whenUnsatisfiable": "DoNotSchedule"}
CLAIM = {"name": "v", "persistentVolumeClaim": {"claimName": EVIL}}


def pod(name, annotations=None, **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"schedulerName": "phalanx", "containers": GPUS, **spec},
    }


@pytest.fixture
def hostile(tmp_path):
    """
    A file of pods that hide something in every text a tenant may choose.
    """
    taint = {"key": EVIL, "value": EVIL, "effect": "NoSchedule"}
    free = {"cpu": "96", "nvidia.com/gpu": "8"}
    koordinator = "gang.scheduling.koordinator.sh"
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "dgx"},
        "spec": {"taints": [taint]},
        "status": {"allocatable": free},
    }
    items = [
        node,
        pod("queued", {"volcano.sh/queue-name": EVIL}),
        pod("least", {"phalanx/min-available": EVIL}),
        pod("grouped", {"scheduling.k8s.io/group-name": EVIL}),
        pod("classed", priorityClassName=EVIL),
        pod("mounting", volumes=[CLAIM]),
        pod("spread", topologySpreadConstraints=[SPREAD]),
        pod("elsewhere", schedulerName=EVIL),
        pod(EVIL),
        pod("selecting", nodeSelector={EVIL: EVIL}),
        pod(
            "matched",
            {
                f"{koordinator}/name": "g",
                f"{koordinator}/min-available": "1",
                f"{koordinator}/match-policy": EVIL,
                f"{koordinator}/mode": EVIL,
            },
        ),
    ]
    path = tmp_path / "hostile.yaml"
    path.write_text(
        yaml.safe_dump({"kind": "List", "apiVersion": "v1", "items": items})
    )
    return str(path)


@pytest.mark.drawn
@pytest.mark.parametrize(
    "words",
    [
        *(["plan", "-o", form] for form in ("table", "wide", "json", "yaml", "csv")),
        ["plan", "-o", "name"],
        ["plan", "--diff", "greedy"],
        *(["get", "gangs", "-o", form, "-f"] for form in ("table", "wide", "csv")),
        *(["get", "gangs", "-o", form, "-f"] for form in ("json", "yaml", "name")),
        ["get", "queues", "-f"],
        ["get", "nodes", "-o", "wide", "-f"],
        ["describe", "gang", "spread", "-f"],
        ["describe", "gang", "queued", "-o", "yaml", "-f"],
        ["describe", "node", "dgx", "-f"],
        ["snapshot", "show"],
        ["snapshot", "show", "-o", "json"],
        ["snapshot", "check"],
    ],
    ids=" ".join,
)
def test_nothing_that_a_tenant_wrote_moves_a_cursor(words, hostile, capsys):
    run([*words, hostile])
    told = capsys.readouterr()

    for text in (told.out, told.err):
        assert all(line.isprintable() for line in text.split("\n")), words
        assert "\nfake line" not in text


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_document_still_holds_what_a_tenant_wrote(form, hostile, capsys):
    run(["snapshot", "show", "-o", form, hostile])
    found = capsys.readouterr().out
    read = json.loads(found) if form == "json" else yaml.safe_load(found)

    assert [{"key": EVIL, "value": EVIL, "effect": "NoSchedule"}] == [
        taint for node in read["given"]["nodes"] for taint in node["taints"]
    ]


@pytest.mark.parametrize("text", [EVIL, "\U000e0001 tag", "=1+1", "- a\n- b", "\x85"])
def test_documents_say_again_whatever_they_are_given(text):
    from adapters.cli.terminal.output import Format
    from adapters.files.writing.yaml_writer import yaml_text

    document = {"text": [text, {text: 1}]}
    for written, read in (
        (as_text(document, Format.JSON), json.loads),
        (as_text(document, Format.YAML), yaml.safe_load),
        (yaml_text(document), yaml.safe_load),
    ):
        assert document == read(written)
        assert written.replace("\n", "").isprintable()


def test_only_our_own_colour_reaches_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    paint = Paint()
    say(paint("red", f"  {EVIL}"), EVIL, "\033[31mnot ours\033[0m")
    red, *plain = capsys.readouterr().out.splitlines()

    assert red.startswith("\033[31m")
    assert red.endswith("\033[0m")
    assert red[5:-4].isprintable()
    assert all(line.isprintable() for line in plain)


def test_a_dumb_terminal_gets_no_colour(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")

    assert "x" == Paint()("red", "x")


def test_a_note_and_a_row_stay_on_their_lines(capsys):
    note(f"warning: {EVIL}")
    table = Table(("A", "B"), [(EVIL, EVIL)])

    assert 1 == capsys.readouterr().err.count("\n")
    assert all(line.isprintable() for line in table.lines())
    assert all(line.isprintable() for line in table.folded(20))


RUN = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "={cmd|'/C calc'!A0}", "'=1"]


def test_no_spreadsheet_runs_a_cell():
    text = Table(("NAME",), [[word] for word in RUN]).csv()
    cells = [row[0] for row in csv.reader(io.StringIO(text))][1:]

    assert all(cell.startswith("'") for cell in cells)


@pytest.mark.parametrize("number", ["-5", "+3.5 %", "-1,024", "-1e-07", "–", "3"])
def test_a_number_is_no_formula(number):
    assert f"name\n{number}\n" == Table(("NAME",), [[number]]).csv().replace('"', "")


def test_our_own_reader_gives_cells_back_as_they_were():
    words = [*RUN, "plain", "'quoted'", "a,b", -3, ""]
    out = io.StringIO()
    CsvWriter(out).row(words)
    out.seek(0)

    assert [[str(word) for word in words]] == list(csv_rows(out))


@pytest.mark.parametrize("form", [TextLines(), JsonLines()])
def test_a_log_line_is_one_line_and_moves_nothing(form):
    record = logging.LogRecord("x", logging.INFO, "", 0, "event", None, None)
    record.fields = {"gang": EVIL, "gangs": [EVIL], "counts": {EVIL: 1}}

    assert form.format(record).isprintable()


@pytest.mark.parametrize("form", [TextLines(), JsonLines()])
def test_a_log_line_ends(form):
    record = logging.LogRecord("x", logging.INFO, "", 0, "event", None, None)
    record.fields = {"warning": "y" * 300_000, "gangs": ["ml/a", "z" * 300_000]}

    assert 10_000 > len(form.format(record))
    assert "ml/a" in form.format(record)


def test_a_traceback_in_a_log_moves_nothing():
    error = ValueError(EVIL)
    seen = (ValueError, error, None)
    record = logging.LogRecord("x", logging.ERROR, "", 0, "event", None, seen)
    lines = TextLines().format(record).split("\n")

    assert all(line.isprintable() for line in lines)


def test_an_event_says_what_cannot_be_seen():
    about = Regarding(api_version="v1", kind="Pod", namespace="ml", name="p")
    notice = Notice(regarding=about, type="Warning", reason="X", note=EVIL * 100)

    assert _fit(notice).note.isprintable()
    assert len(_fit(notice).note.encode()) <= 1024


def test_a_page_says_what_cannot_be_seen():
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    from adapters.reports.page.html import as_html

    page = Page(
        kind="Replay",
        title=EVIL,
        verdict=EVIL,
        certainty=EVIL,
        tiles=(),
        lead=(EVIL,),
        sections=(Section(name="one", heading=EVIL, blocks=(Text((EVIL,)),)),),
        made_by=((EVIL, EVIL),),
        document={},
    )
    for text in (as_markdown(page), as_html(page)):
        body, _, _ = text.partition("<script")
        assert "\x1b" not in body
        assert "\u202e" not in body


@pytest.fixture
def endless(tmp_path):
    """
    A file in which one tenant wrote more than any name holds, beside another's pod.
    """
    long = "y" * 100_000
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "dgx"},
        "status": {"allocatable": {"cpu": "96", "nvidia.com/gpu": "8"}},
    }
    items = [
        node,
        pod("fine"),
        pod("queued", {"volcano.sh/queue-name": long}),
        pod("grouped", {"scheduling.k8s.io/group-name": long}),
        pod("classed", priorityClassName=long),
        pod("selecting", nodeSelector={long: long}),
    ]
    path = tmp_path / "endless.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}))
    return str(path)


@pytest.mark.parametrize(
    "words",
    [["plan"], ["get", "gangs", "-f"], ["why", "--summary"], ["snapshot", "check"]],
    ids=" ".join,
)
def test_no_name_is_so_long_that_it_hides_what_others_have(words, endless, capsys):
    run([*words, endless])
    told = capsys.readouterr()

    assert 20_000 > len(told.out) + len(told.err)


def test_a_queue_with_a_name_that_is_too_long_does_not_lose_the_file(
    endless, tmp_path, capsys
):
    run(["snapshot", "show", endless])
    saved = tmp_path / "saved.yaml"
    saved.write_text(capsys.readouterr().out)
    code = run(["plan", "-o", "name", str(saved)])

    assert (0, "default/fine\n") == (code, capsys.readouterr().out)
