"""
The pictures are what their code draws, and every page shows both schemes of one.
"""

import re
from xml.etree import ElementTree as ET

import pytest

from tests.docs.pages import pages
from tools.pictures.drawing import SCHEMES, width_of
from tools.pictures.files import FOLDER, PICTURES, drawn

SLOW = "report"
USED = re.compile(
    r'<picture>\n  <source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\n'
    r'  <img alt="([^"]+)" src="([^"]+)">\n</picture>'
)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if n == SLOW else ()) for n in PICTURES],
)
def test_a_picture_is_what_its_code_draws(name):
    for file, text in drawn([name]).items():
        assert text == (FOLDER / file).read_text("utf-8"), "make pictures"


def test_there_is_no_other_picture():
    names = {f"{name}-{scheme}.svg" for name in PICTURES for scheme in SCHEMES}

    assert names == {path.name for path in FOLDER.iterdir()}


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_a_picture_fetches_nothing_and_says_what_it_shows(path):
    text = path.read_text("utf-8")
    root = ET.fromstring(text)  # noqa: S314 - our own drawing

    assert root.attrib["aria-label"]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "<script" not in text


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_no_words_of_a_picture_leave_it(path):
    root = ET.fromstring(path.read_text("utf-8"))  # noqa: S314 - our own drawing
    found = [one for one in root if one.tag.endswith("}text")]
    begun = [one for one in found if one.get("text-anchor", "start") == "start"]
    ends = {
        one.text: float(one.attrib["x"])
        + width_of(one.text or "", float(one.attrib["font-size"]))
        for one in begun
    }

    assert ends
    width = float(root.attrib["width"])
    assert [] == [text for text, end in ends.items() if end > width]


def test_every_picture_is_shown_in_both_schemes_with_words():
    shown = set()
    for page in pages():
        text = page.read_text("utf-8")
        found = USED.findall(text)
        assert text.count("<picture>") == len(found), page
        for dark, words, light in found:
            assert dark.replace("-dark.", "-light.") == light
            assert (page.parent / light).resolve().parent == FOLDER
            assert len(words) > 20
            shown |= {(page.parent / name).name for name in (dark, light)}

    assert {path.name for path in FOLDER.iterdir()} == shown
