"""
Hostile names in reports, and results that are too large or empty.
"""

import json

import pytest

from adapters.cli.main import run
from tests.adapters.documents import scenario
from tests.adapters.pages_read import read
from tests.adapters.reports.drawn_pages import SCENARIOS

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{7*7}}"
    "\n\N{RIGHT-TO-LEFT OVERRIDE}"
)


@pytest.fixture
def hostile(folder):
    """
    Results in which every text is hostile.
    """
    path = folder / "results.json"
    document = json.loads(path.read_text())
    document["trace"] |= {
        "name": HOSTILE,
        "notes": [HOSTILE],
        "leftOut": {HOSTILE: float("nan")},
    }
    document["cluster"]["name"] = HOSTILE
    document["versions"][HOSTILE] = HOSTILE
    document["notModelled"] = [HOSTILE]
    for row in document["paired"]:
        row |= {"label": HOSTILE, "unit": HOSTILE}
    for row in document["largest"]:
        row |= {"job": HOSTILE, "queue": HOSTILE, "reason": HOSTILE}
    for run_ in document["runs"]:
        run_["strategy"] = HOSTILE if run_["strategy"] == "solver" else "greedy"
    document["strategies"] = ["greedy", HOSTILE]
    text = json.dumps(document).replace(
        '"strategy": "solver"', f'"strategy": {json.dumps(HOSTILE)}'
    )
    path.write_text(text)
    timings = folder / "timings.json"
    shown = json.dumps(f"{HOSTILE} 😀" + "😀" * 200)
    timings.write_text(timings.read_text().replace('"1-10"', shown))
    for table in folder.glob("runs/*/*/*.csv"):
        text = table.read_text().replace("queue-1", '"</svg><script>alert(3)</script>"')
        table.write_text(text.replace("n01*", "<b>😀</b>*"))
    return folder


@pytest.mark.drawn
def test_hostile_names_are_shown_and_never_obeyed(hostile, tmp_path):
    path = tmp_path / "page.html"

    assert 0 == run(["report", str(hostile), "--html", str(path)])

    top = read(path.read_text(encoding="utf-8"))
    assert 3 == len(list(top.every("script")))
    assert [] == list(top.every("img", "b", "iframe"))
    assert "alert(1)" in next(top.every("h1")).text
    assert "{{7*7}}" in next(top.every("h1")).text
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in path.read_text(encoding="utf-8")


@pytest.mark.drawn
def test_our_own_spaces_between_numbers_and_units_are_no_escapes(folder, tmp_path):
    path = tmp_path / "page.html"
    run(["report", str(folder), "--html", str(path)])
    text = path.read_text(encoding="utf-8")

    assert "\N{NO-BREAK SPACE}s" in text
    assert "\\xa0" not in text


def test_hostile_names_stay_text_in_markdown(hostile, capsys):
    assert 0 == run(["report", str(hostile)])

    text = capsys.readouterr().out
    assert "alert(1)" in text
    assert "<script" not in text.replace("\\<", "")


def test_hostile_scenario_is_compared(tmp_path, capsys):
    name = "a" * 40
    document = scenario(
        gangs=[{"name": name, "min": 1, "requests": {"nvidia.com/gpu": 1}}]
    )
    path = tmp_path / "<script>alert(4)<script> & 😀.json"
    path.write_text(json.dumps(document))
    page = tmp_path / "page.html"

    assert 0 == run(["compare", str(path), "--html", str(page)])

    assert "alert(4)" in capsys.readouterr().out
    assert 2 == len(
        [
            each
            for each in read(page.read_text(encoding="utf-8")).every("script")
            if "alert(4)" not in each.text or each.attributes
        ]
    )


def test_case_without_gangs_and_nodes_is_compared(tmp_path):
    path = tmp_path / "empty.json"
    path.write_text('{"apiVersion": "phalanx/v1", "kind": "Snapshot", "given": {}}')
    page = tmp_path / "page.html"

    assert 0 == run(["compare", str(path), "--html", str(page), "--markdown", "-"])

    assert "equal in 1" in page.read_text(encoding="utf-8")


def test_results_too_large_to_be_carried_along_are_linked(
    folder, tmp_path, monkeypatch
):
    from adapters.reports.page import html

    monkeypatch.setattr(html, "LARGEST", 100)
    path = tmp_path / "page.html"
    assert 0 == run(["report", str(folder), "--html", str(path)])

    top = read(path.read_text(encoding="utf-8"))
    assert "results.json" in {e.attributes.get("href") for e in top.every("a")}
    assert 1 == len(list(top.every("script")))


def test_comparison_too_large_to_be_carried_along_says_what_prints_it(
    tmp_path, monkeypatch
):
    from adapters.reports.page import html

    monkeypatch.setattr(html, "LARGEST", 100)
    path = tmp_path / "page.html"
    assert 0 == run(["compare", str(SCENARIOS / "demo"), "--html", str(path)])

    footer = next(read(path.read_text(encoding="utf-8")).every("footer"))
    assert "phalanx compare -o json" in footer.text
    assert [] == list(footer.every("a"))
