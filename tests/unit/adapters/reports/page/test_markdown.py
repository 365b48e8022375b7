import sys

import pytest

from adapters.cli.options.report_options import write
from adapters.reports.page.markdown import as_markdown, plain
from adapters.reports.page.page import (
    Cell,
    Column,
    Facts,
    Grid,
    Items,
    Page,
    Section,
    Text,
)

HOSTILE = "<script>|`*_[x](y)\n# @team #7 ~~"


def page_with(*blocks):
    return Page(
        kind="replay",
        title=HOSTILE,
        lead=[HOSTILE],
        verdict="better",
        certainty="sure",
        tiles=(),
        sections=[Section(name="s", heading=HOSTILE, blocks=blocks)],
        document={},
    )


@pytest.mark.parametrize(
    "block",
    [
        Text([HOSTILE]),
        Items([HOSTILE]),
        Facts([(HOSTILE, HOSTILE)]),
        Grid(caption=HOSTILE, columns=[Column(HOSTILE)], rows=[[Cell(HOSTILE)]]),
    ],
)
def test_names_stay_text_and_on_their_line(block):
    text = as_markdown(page_with(block))

    assert "<script" not in text.replace("\\<", "")
    assert "\n#" not in text.removeprefix("## ")
    assert not {"@", "`", "["} & set(
        text.replace("\\@", "").replace("\\`", "").replace("\\[", "")
    )


def test_table_has_as_many_cells_in_every_line():
    grid = Grid(
        caption="t",
        columns=[Column("a"), Column("b", right=True)],
        rows=[[Cell("1 | 2"), Cell("3")]],
    )

    lines = [
        line for line in as_markdown(page_with(grid)).splitlines() if line[:1] == "|"
    ]

    assert ["| a | b |", "| --- | ---: |", "| 1 \\| 2 | 3 |"] == lines


def test_long_table_is_cut_and_says_so():
    rows = [[Cell(str(at))] for at in range(45)]

    text = as_markdown(page_with(Grid(caption="t", columns=[Column("a")], rows=rows)))

    assert "15 more rows" in text


def test_notes_of_a_table_are_kept():
    grid = Grid(caption="t", columns=[Column("a")], rows=[], notes=["first", "second"])

    text = as_markdown(page_with(grid))

    assert "first" in text
    assert "second" in text
    assert "more rows" not in text


def test_line_ends_become_spaces():
    assert "a b" == plain("a\r\n b")


@pytest.mark.parametrize("seen", [False, True])
def test_a_person_sees_no_signs_of_markdown(capsys, monkeypatch, seen):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: seen, raising=False)
    grid = Grid(
        caption="Queues",
        columns=[Column("queue"), Column("GPUs", right=True), Column("note")],
        rows=[[Cell("team_a*"), Cell("9.5\xa0%"), Cell("[x]")]],
        notes=["They are #1."],
    )
    write(page_with(grid), None, "-")
    text = capsys.readouterr().out

    assert seen != ("<details>" in text)
    assert seen != ("| team\\_a\\* | 9.5 % | \\[x\\] |" in text)
    assert seen == ("QUEUE     GPUS  NOTE\nteam_a*  9.5 %  [x]\n\nThey are #1." in text)
    assert seen != ("\\#" in text)
