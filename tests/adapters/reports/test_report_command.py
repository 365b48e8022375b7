"""
``phalanx report`` and ``phalanx compare --html``: files, errors, hostile input.
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from itertools import pairwise

import pytest

from adapters.cli.main import run
from tests.adapters.pages_read import read
from tests.adapters.reports.drawn_pages import REPOSITORY

PAGES = ("replay", "comparison")

both = pytest.mark.parametrize("page", PAGES, indirect=True)


@both
def test_page_asks_for_nothing_from_outside(page):
    top = read(page)

    for element in top.every():
        for name in ("src", "srcset", "action", "data", "poster", "xlink:href"):
            assert name not in element.attributes
        link = element.attributes.get("href", "#")
        assert link.startswith("#") or link in {"data:,", "results.json"}
    assert "@import" not in page
    assert "url(" not in re.sub(r'clip-path="url\(#[\w-]+\)"', "", page)
    assert set() == set(re.findall(r"https?://[^\s\"'<]+", page))


@both
def test_only_our_own_style_and_script_may_act(page):
    top = read(page)

    policy = next(
        element.attributes["content"]
        for element in top.every("meta")
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none';")
    acting = [
        element
        for element in top.every("script", "style")
        if element.attributes.get("type") not in {"application/json", "text/plain"}
    ]
    assert 2 == len(acting)
    for element in acting:
        digest = hashlib.sha256("".join(element.words).encode()).digest()
        assert f"'sha256-{base64.b64encode(digest).decode()}'" in policy
    for element in top.every():
        assert "style" not in element.attributes
        assert not [name for name in element.attributes if name.startswith("on")]


@both
def test_every_chart_is_named_described_and_told_in_numbers(page):
    top = read(page)

    figures = list(top.every("figure"))
    ids = [e.attributes["id"] for e in top.every() if "id" in e.attributes]
    assert len(figures) >= 3
    assert len(ids) == len(set(ids))
    for figure in figures:
        assert figure.attributes["aria-labelledby"] in ids
        assert list(figure.every("table")), figure.attributes
        drawings = [e for e in figure.every("div") if e.attributes.get("role") == "img"]
        assert drawings
        for drawing in drawings:
            assert drawing.attributes["aria-label"].strip()
            assert drawing.attributes["aria-describedby"] in ids
            assert 2 == len(list(drawing.every("svg")))


@both
def test_page_has_landmarks_one_title_and_headings_in_order(page):
    top = read(page)

    for tag in ("header", "nav", "main", "footer", "h1", "title"):
        assert 1 == len(list(top.every(tag))), tag
    levels = [int(e.tag[1]) for e in top.every("h1", "h2", "h3")]
    assert all(b - a <= 1 for a, b in pairwise(levels))
    contents = {e.attributes["href"] for e in next(top.every("nav")).every("a")}
    sections = {f"#{e.attributes['id']}" for e in top.every("section")}
    assert contents == sections
    assert "en" == next(top.every("html")).attributes["lang"]


@both
def test_every_table_has_a_caption_and_heads(page):
    tables = list(read(page).every("table"))

    assert tables
    for table in tables:
        assert next(table.every("caption")).text.strip()
        assert {"col", "row"} >= {
            head.attributes["scope"] for head in table.every("th")
        }
        widths = {
            len([cell for cell in row.children if cell.tag in {"th", "td"}])
            for row in table.every("tr")
        }
        assert 1 == len(widths)


@both
def test_every_number_is_carried_along(page):
    carried = next(
        element
        for element in read(page).every("script")
        if element.attributes.get("type") == "application/json"
    )

    document = json.loads(carried.text)
    assert document["kind"] in {"Replay", "Comparison"}
    captions = [table.text for table in read(page).every("caption")]
    assert sorted(captions) == sorted(
        table["caption"] for table in document["page"]["tables"]
    )


@pytest.mark.drawn
def test_same_results_give_the_same_bytes(folder, tmp_path):
    paths = [tmp_path / "a.html", tmp_path / "b.html"]
    assert 0 == run(["report", str(folder), "--html", str(paths[0])])
    # Another process has drawn nothing before, and orders its sets differently.
    subprocess.run(
        [
            sys.executable,
            "-m",
            "adapters.cli.main",
            "report",
            folder,
            "--html",
            paths[1],
        ],
        check=True,
        cwd=REPOSITORY,
        env={"PYTHONHASHSEED": "12345"},
        capture_output=True,
    )

    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_same_results_give_the_same_markdown(folder, capsys):
    assert 0 == run(["report", str(folder)])
    first = capsys.readouterr().out
    assert 0 == run(["report", str(folder), "--markdown", "-"])

    assert first == capsys.readouterr().out
    assert first.startswith("## greedy and solver")


@pytest.mark.drawn
def test_folder_that_replay_writes_has_every_chart(tmp_path):
    trace = tmp_path / "jobs.csv"
    trace.write_text(
        "job,submit,duration,pods,gpus,queue\n"
        "a,0,7200,1,8,x\nb,60,7200,2,4,y\nc,90,3600,1,8,x\nd,900,600,1,1,y\n"
    )
    results, page = tmp_path / "results", tmp_path / "page.html"
    words = ["--cluster", "2x8", "--strategy", "greedy", "--strategy", "solver"]
    assert 0 == run(["replay", str(trace), *words, "-O", str(results)])

    assert 0 == run(["report", str(results), "--html", str(page)])

    text = page.read_text(encoding="utf-8")
    top = read(text)
    names = {figure.attributes["id"] for figure in top.every("figure")}
    assert names == {"waits", "use", "queue", "nodes", "fairness", "decisions"}
    assert "is not drawn" not in text
    rows = [e.text for e in top.every("th") if e.attributes.get("scope") == "row"]
    for measure in ("mean wait", "99th percentile wait of gangs of 8 GPUs+"):
        assert measure in rows


def test_missing_extra_is_said_in_a_sentence(folder, tmp_path, monkeypatch, capsys):
    from adapters.reports.page import extra

    monkeypatch.setattr(
        extra, "find_spec", lambda name: None if name != "altair" else True
    )

    code = run(["report", str(folder), "--html", str(tmp_path / "page.html")])

    assert 1 == code
    said = capsys.readouterr().err
    assert "vl-convert-python, jinja2 are not installed" in said
    assert "pip install 'phalanx[report]'" in said
    assert not (tmp_path / "page.html").exists()


def test_markdown_needs_no_extra(folder):
    code = (
        "import sys\n"
        "for name in ('altair', 'vl_convert', 'jinja2', 'pyarrow'):\n"
        "    sys.modules[name] = None\n"
        "from adapters.cli.main import run\n"
        f"sys.exit(run(['report', {str(folder)!r}]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert "## greedy and solver" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere"], 4, "there is no folder"),
        (["results/results.json"], 4, "is a file, not a folder"),
        ([".", "--html", "x.html"], 4, "there is no such file"),
        (["results", "--html", "nowhere/x.html"], 2, "there is no folder 'nowhere'"),
        (["results", "--html", "results"], 2, "is a folder; name a file in it"),
        (["results", "--html", "-", "--markdown", "-"], 2, "only one of"),
        (["results", "--html", "page", "--markdown", "page"], 2, "can be page"),
        (["results", "--window", "3d..1d"], 2, "is not a window"),
        (["results", "--window", "x..y"], 2, "is not a window"),
        (["results", "--window", "nand..1d"], 2, "is not a window"),
        (["results", "--window", "1d"], 2, "is not a window"),
        (["results", "--window", "90d..91d"], 2, "begins after the replay, which ends"),
        (["results", *9 * ["--window", "0..1d"]], 2, "9 windows are too many"),
    ],
)
def test_wrong_use_is_refused_with_its_place(
    folder, words, code, said, capsys, monkeypatch
):
    monkeypatch.chdir(folder.parent)

    assert code == run(["report", *words])
    assert said in capsys.readouterr().err


def test_report_that_fails_leaves_the_old_one_alone(folder, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")
    (folder / "results.json").write_text("{")

    assert 4 == run(["report", str(folder), "--html", str(path)])

    assert "old" == path.read_text()
    assert ["page.html", "results"] == sorted(each.name for each in tmp_path.iterdir())


@pytest.mark.drawn
def test_report_is_written_over_and_says_so(folder, tmp_path, capsys):
    path = tmp_path / "page.html"
    path.write_text("old")

    assert 0 == run(["report", str(folder), "--html", str(path)])

    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert f"written: {path}\n" == capsys.readouterr().err


def test_report_goes_into_a_pipe_or_through_a_link_that_stays(folder, tmp_path):
    pipe, link, file = (tmp_path / name for name in ("pipe", "link.md", "file.md"))
    os.mkfifo(pipe)
    link.symlink_to(file)
    file.write_text("old")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    assert 0 == run(["report", str(folder), "--markdown", str(pipe)])
    assert 0 == run(["report", str(folder), "--markdown", str(link)])

    assert pipe.is_fifo()
    assert link.is_symlink()
    text = file.read_bytes()
    assert text.startswith(b"## ")
    assert text == os.read(reader, len(text) + 1)
    os.close(reader)


def test_window_of_the_nodes_may_be_chosen(folder, capsys):
    words = ["report", str(folder), "--window", "0..36h", "--window", "90m..2d"]

    assert 0 == run(words)

    text = capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ")
    assert "0 s to 1d12h" in text
    assert "1h30m to 2d00h" in text
