"""
A folder of results, reports as pages, and a browser that opens them.
"""

import pytest

from adapters.cli.main import run
from tests.adapters.reports.drawn_pages import KINDS, SCENARIOS
from tests.helpers.chromium import Chromium
from tests.helpers.replays import write_replay


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """
    Write one page of each kind.
    """
    place = tmp_path_factory.mktemp("pages")
    folder = write_replay(place / "results", num_jobs=200, num_nodes=6, days=5)
    for line in (
        ["report", str(folder), "--html", str(place / "replay.html")],
        ["compare", str(SCENARIOS / "demo"), str(SCENARIOS / "packing"), "--html"],
    ):
        more = [] if line[0] == "report" else [str(place / "comparison.html")]
        assert 0 == run([*line, *more])
    return place


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Chromium(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def folder(tmp_path):
    return write_replay(tmp_path / "results", num_jobs=60, num_nodes=4, days=4)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """
    Write one page of each kind, as text.
    """
    place = tmp_path_factory.mktemp("pages")
    folder = write_replay(place / "results", num_jobs=60, num_nodes=4, days=4)
    words = {
        "replay": ["report", str(folder)],
        "comparison": ["compare", str(SCENARIOS / "demo"), str(SCENARIOS / "contract")],
    }
    written = {}
    for kind, line in words.items():
        path = place / f"{kind}.html"
        assert 0 == run([*line, "--html", str(path)])
        written[kind] = path.read_text(encoding="utf-8")
    return written


@pytest.fixture
def page(request, texts):
    return texts[request.param]
