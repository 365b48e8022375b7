"""
The way of a round: from what is to a judged plan.
"""

from adapters.reports.charts.palette import FAINT, GOOD, SERIES, Colour
from tools.pictures.drawing import Drawing, Scheme

BLUE, ORANGE = SERIES[0], SERIES[1]
WIDTH, HEIGHT = 840, 404


def draw(scheme: Scheme) -> str:
    """
    Draw it, from left to right and from above.
    """
    drawing = Drawing(
        WIDTH,
        HEIGHT,
        scheme,
        "A round: gather, three steps of greedy and search, explain, plan, judge.",
    )
    _gather(drawing)
    _steps(drawing)
    _ending(drawing)
    return drawing.finished()


def _gather(drawing: Drawing) -> None:
    drawing.card(
        (14, 14, 180, 88), "Read", ["a cluster, or files:", "Snapshot, Policy"]
    )
    drawing.card(
        (230, 14, 250, 88),
        "Gather",
        ["what can be planned, fair shares,", "nodes and pods as counts;", "refusals"],
    )
    drawing.card(
        (516, 14, 310, 88),
        "Keep and hold",
        [
            "places that an earlier round reserved;",
            "nodes for gangs passed over for too long",
        ],
    )
    drawing.arrow([(194, 58), (228, 58)])
    drawing.arrow([(480, 58), (514, 58)])
    drawing.arrow([(671, 102), (671, 124), (130, 124), (130, 148)])


def _steps(drawing: Drawing) -> None:
    names = (
        ("1  Entitled starts", ["others may leave for them"], BLUE),
        ("2  Borrowing starts", ["others may leave for them"], BLUE),
        ("3  All else", ["nobody leaves"], BLUE),
    )
    for index, (title, words, edge) in enumerate(names):
        drawing.card((14, 150 + index * 62, 236, 52), title, words, edge=edge)
        if index:
            drawing.arrow([(132, 140 + index * 62), (132, 148 + index * 62)])
    drawing.box((286, 150, 540, 176), fill=None, stroke=FAINT, dashed=True)
    drawing.text((300, 171), "in each step", size=12, colour=FAINT)
    drawing.arrow([(250, 176), (284, 176)], dashed=True)
    drawing.card(
        (300, 184, 156, 128),
        "Greedy",
        ["gang by gang:", "a complete draft,", "and the baseline", "of every report"],
        edge=ORANGE,
    )
    drawing.card(
        (490, 184, 156, 128),
        "One model",
        [
            "counts of pods",
            "for each node class;",
            "skipped where greedy",
            "is proven best",
        ],
    )
    drawing.card(
        (680, 184, 132, 128),
        "Search",
        ["tier by tier:", "solve, decode,", "repair, lock;", "every bound is kept"],
        edge=BLUE,
    )
    drawing.arrow([(456, 248), (488, 248)])
    drawing.arrow([(646, 248), (678, 248)])


def _ending(drawing: Drawing) -> None:
    cards: tuple[tuple[int, int, str, str, Colour], ...] = (
        (14, 170, "Explain", "one reason for each wait", FAINT),
        (220, 170, "Plan", "pods named, in order", FAINT),
        (426, 190, "Judge", "shares no code with it", GOOD),
        (652, 174, "Act", "bind and evict, by gang", FAINT),
    )
    drawing.arrow([(132, 326), (132, 342)])
    for index, (x, width, title, words, edge) in enumerate(cards):
        drawing.card((x, 344, width, 50), title, [words], edge=edge)
        if index:
            before = cards[index - 1]
            drawing.arrow([(before[0] + before[1], 369), (x - 2, 369)])
