"""
Strategies in a report: the words for them, and their colours, shapes and dashes.
"""

from collections.abc import Sequence

from adapters.reports.charts.palette import colour, dashes, ranks, shape
from adapters.reports.page.page import Key
from adapters.reports.replay.results import Folder


def point_keys(strategies: Sequence[str]) -> list[Key]:
    """
    Make the legend of points, one line for each strategy.
    """
    return [
        Key(name, colour(rank).role, shape(rank))
        for name, rank in ranks(strategies).items()
    ]


def line_keys(strategies: Sequence[str]) -> list[Key]:
    """
    Make the legend of lines, one line for each strategy.
    """
    return [
        Key(name, colour(rank).role, "line", " ".join(map(str, dashes(rank))))
        for name, rank in ranks(strategies).items()
    ]


def which_seed(folder: Folder) -> str:
    """
    Say which of several seeds a figure shows.
    """
    seeds = folder.results.seeds
    return f"Drawn for seed {min(seeds)}." if len(seeds) > 1 else ""
