"""
``phalanx report``: a page about what a replay found, or an observation.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.options.report_options import HtmlFile, MarkdownFile, ready, write
from models.errors import WrongUseError

if TYPE_CHECKING:
    from adapters.reports.page.page import Page

MOST_WINDOWS = 8

Windows = Annotated[
    list[str] | None,
    typer.Option(
        "--window",
        metavar="FROM..TO",
        help="A window of the nodes to draw, such as 10d..11d; up to eight.",
    ),
]
StudyFolder = Annotated[
    str | None,
    typer.Option(
        "--study",
        metavar="DIR",
        help="What `study policy` wrote of the same trace: say whether a policy of it "
        "is better.",
    ),
]


def report(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR", help="The folder that a replay or `run --observe` wrote."
        ),
    ],
    *,
    html: HtmlFile = None,
    markdown: MarkdownFile = None,
    window: Windows = None,
    study: StudyFolder = None,
) -> None:
    """
    Write a page about the results of a replay, or about an observed scheduler.

    Without --html and --markdown it goes to standard output: as text in a terminal,
    else as Markdown.
    """
    windows = [_window(text) for text in window or ()]
    if len(windows) > MOST_WINDOWS:
        raise typer.BadParameter(
            f"{len(windows)} windows are too many for one page: name at most "
            f"{MOST_WINDOWS}"
        )
    if html is None and markdown is None:
        markdown = "-"
    ready(html, markdown)
    from adapters.cli.terminal.progress import Progress

    with Progress() as progress:
        progress.say("reading the results")
        page = _observed(folder) or _replayed(folder, windows, study)
        progress.say("drawing")
        write(page, html, markdown)


def _replayed(
    folder: str, windows: list[tuple[float, float]], study: str | None
) -> "Page":
    from adapters.reports.replay.replay_page import replay_page
    from adapters.reports.replay.results import load

    return replay_page(load(folder), windows, study)


def _observed(folder: str) -> "Page | None":
    """
    Make the page of an observation, where the folder or the one shard below it has one.
    """
    from adapters.observe.observation import KIND, observed_in
    from adapters.observe.round_file import read_rounds
    from adapters.reports.observation.observation_page import observation_page
    from adapters.reports.observation.story import folded

    own = observed_in(folder, ".")
    below = sorted(Path(folder).glob(f"*/{own.name}"))
    if len(below) > 1 and not own.exists():
        names = ", ".join(str(path.parent) for path in below)
        raise WrongUseError(f"{folder} holds {len(below)} observations: {names}")
    for path in (own, *below):
        if path.exists() and (found := folded(read_rounds(path, KIND))) is not None:
            return observation_page(found)
    return None


_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def _window(text: str) -> tuple[float, float]:
    """
    Read two times since the first submission, such as ``36h..3d``.
    """
    first, dots, second = text.partition("..")
    try:
        low, high = _seconds(first), _seconds(second)
    except ValueError:
        dots = ""
        low = high = 0.0
    if not dots or high <= low:
        raise typer.BadParameter(
            f"{text!r} is not a window such as 10d..11d: two times since the first "
            "submission, in s, m, h or d, the later one second"
        )
    return low, high


def _seconds(text: str) -> float:
    words = text.strip()
    if words == "0":
        return 0.0
    unit = _UNITS[words[-1]] if words[-1:] in _UNITS else None
    if unit is None:
        raise ValueError(text)
    value = float(words[:-1]) * unit
    if not 0 <= value < 1e12:
        raise ValueError(text)
    return value
