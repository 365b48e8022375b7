"""
The dashboard asks for what is exported, all of it, and its panels lie side by side.
"""

import json
import re
from itertools import combinations
from pathlib import Path

import pytest

from tools.dashboard.document import COLUMNS, PATH, chosen, text

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"
ROW = re.compile(r"^\| `(phalanx_\w+)` \| (\w+) \|([^|]*)\|", re.MULTILINE)
ENDS = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_sum", "_count"),
}
OF_THE_PROCESS = {"process_resident_memory_bytes", "process_cpu_seconds_total"}
OF_THE_SCRAPE = {"job", "instance", "pod"}
DASHBOARD = json.loads(PATH.read_text("utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
QUERIES = [target["expr"] for panel in PANELS for target in panel["targets"]]


def exported():
    """
    Give the labels of every series, as the page lists them, which a test holds
    against the code.
    """
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    return {
        name + end: {*re.findall(r"`(\w+)`", labels), *["le"][: end == "_bucket"]}
        for name, kind, labels in rows
        for end in ENDS[kind]
    }


def named(query):
    return set(re.findall(r"\b(?:phalanx|process)_\w+", query))


def labels(query):
    found = set(re.findall(r"(\w+)=\"", query))
    for words in re.findall(r"\b(?:by|on) \(([^)]*)\)", query):
        found |= set(words.split(", "))
    return found


def test_the_file_is_what_its_table_gives():
    assert text() == PATH.read_text("utf-8"), "make chart"


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_names_only_series_and_labels_that_are_exported(query):
    known = exported() | {name: set() for name in OF_THE_PROCESS}
    names = named(query)

    assert names
    assert names <= known.keys()
    allowed = set().union(*(known[name] for name in names)) | OF_THE_SCRAPE
    assert labels(query) <= allowed
    assert query.count('job="$job"') == sum(query.count(name) for name in names)


def test_every_metric_that_is_exported_is_on_it():
    shown = {name for query in QUERIES for name in named(query)}
    for name, kind, _ in ROW.findall(PAGE.read_text(encoding="utf-8")):
        assert {name + end for end in ENDS[kind]} & shown, name


def test_legends_name_labels_that_the_query_keeps():
    for panel in PANELS:
        for target in panel["targets"]:
            kept = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            bare = not re.search(r"\b(sum|max|avg|count)\b", target["expr"])
            assert kept <= labels(target["expr"]) | (OF_THE_SCRAPE if bare else set())


def test_a_query_is_about_the_scheduler_that_was_chosen():
    assert 'sum(a{job="$job"})' == chosen("sum(a{})")
    assert 'a{b="c", job="$job"} and d{job="$job"}' == chosen('a{b="c"} and d{}')


def test_panels_have_numbers_of_their_own_and_do_not_overlap():
    everything = DASHBOARD["panels"]
    assert len(everything) == len({panel["id"] for panel in everything})

    places = [panel["gridPos"] for panel in everything]
    assert all(place["x"] + place["w"] <= COLUMNS for place in places)
    for one, other in combinations(places, 2):
        apart = [
            one[at] + one[size] <= other[at] or other[at] + other[size] <= one[at]
            for at, size in (("x", "w"), ("y", "h"))
        ]
        assert any(apart)


def test_every_panel_says_what_it_is_for():
    assert all(panel["title"] and panel["description"] for panel in PANELS)
