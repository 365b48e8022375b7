import re

import pytest

from tests.docs.pages import (
    REPOSITORY,
    anchors,
    code_spans,
    links,
    name_of,
    pages,
)

ALL = pages()
# Decisions tell what was true when they were made, and what was not built.
LIVING = [page for page in ALL if "adr" not in page.parts]
ROOMS = ("models", "solver", "adapters", "scenarios", "tests", "docs", "requirements")
_ABSOLUTE = re.compile(
    r"(?<![\w.…/-])/(?:home|mnt|opt(?!/phalanx)|root|tmp|usr|var|work)\b"
)
_ABOVE = re.compile(r"(?<![\w/])(?:\.\./)+[\w./-]*")


def is_target(name: str) -> bool:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    return re.search(rf"^{name}:", makefile, re.MULTILINE) is not None


def is_link_inside(link: str) -> bool:
    return "://" not in link and not link.startswith("mailto:")


@pytest.mark.parametrize("page", ALL, ids=name_of)
def test_every_relative_link_leads_somewhere(page):
    for link in filter(is_link_inside, links(page)):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page

        assert target.exists(), link
        assert target.is_relative_to(REPOSITORY), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", ALL, ids=name_of)
def test_no_page_names_a_path_outside_the_repository(page):
    text = page.read_text(encoding="utf-8")

    assert [] == _ABSOLUTE.findall(text)
    for path in _ABOVE.findall(text):
        beside = [(base / path).resolve() for base in (page.parent, REPOSITORY)]
        inside = any(p.is_relative_to(REPOSITORY) and p.exists() for p in beside)
        assert inside or path.startswith("../shared"), path


@pytest.mark.parametrize("page", LIVING, ids=name_of)
def test_every_file_that_a_page_names_exists(page):
    for span in code_spans(page):
        room, slash, _ = span.partition("/")
        beside = span.endswith(".py") and (page.parent / room).is_dir()
        is_path = slash and (beside or room in ROOMS)
        if not is_path or not re.fullmatch(r"[\w./*-]+", span):
            continue
        folders = [REPOSITORY, page.parent] if beside else [REPOSITORY]
        assert any(list(folder.glob(span.rstrip("/"))) for folder in folders), span


@pytest.mark.parametrize("page", LIVING, ids=name_of)
def test_every_make_target_that_a_page_names_exists(page):
    for span in code_spans(page):
        if re.fullmatch(r"make [a-z-]+", span):
            assert is_target(span.removeprefix("make ")), span
