"""
How much a file may hold: bounds that keep a round within its memory and 64 bits.
"""

from collections.abc import Iterator, Mapping

from adapters.files.checking.gang_checks import leaves_of
from adapters.files.checking.problems import Fault, Path
from models.documents.scenario import Given
from models.gangs import MOST_LEAVES, MOST_PODS, pod_sets
from models.resources import LARGEST_TOTAL, add, format_quantity
from models.snapshot import Snapshot

MOST_NODES = 200_000
MOST_GANGS = 200_000
MOST_QUEUES = 10_000
MOST_RESOURCES = 256


def size_faults(given: Given) -> Iterator[Fault]:
    """
    Find what is more than can be planned; nothing else is judged then.
    """
    leaves = [
        (("given", "gangs", index), spec, [leaf for _, leaf in leaves_of(spec, ())])
        for index, spec in enumerate(given.gangs)
    ]
    pods = sum(
        spec.count * (leaf.replicas or leaf.min or 0)
        for _, spec, below in leaves
        for leaf in below
    )
    for word, what, have, most in (
        ("nodes", "nodes", sum(spec.count for spec in given.nodes), MOST_NODES),
        ("gangs", "gangs", sum(spec.count for spec in given.gangs), MOST_GANGS),
        ("gangs", "pods", pods, MOST_PODS),
        ("queues", "queues", len(given.queues), MOST_QUEUES),
    ):
        if have > most:
            yield ("given", word), f"{have:,} {what}, at most {most:,} are read", ""
    for place, _, below in leaves:
        if len(below) > MOST_LEAVES:
            what = f"{len(below):,} leaves, at most {MOST_LEAVES:,} are read"
            yield place, what, ""
    yield from _total_faults(given)


def snapshot_faults(snapshot: Snapshot) -> Iterator[Fault]:
    """
    Find what is more than can be planned in a snapshot that no file of ours says.
    """
    offered: dict[str, int] = {}
    used: dict[str, int] = {}
    asked: dict[str, int] = {}
    pods = 0
    for node in snapshot.nodes:
        add(offered, node.allocatable)
        add(used, node.used)
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            pods += leaf.replicas
            add(asked, leaf.requests, leaf.replicas)
    for word, what, have, most in (
        ("nodes", "nodes", len(snapshot.nodes), MOST_NODES),
        ("gangs", "gangs", len(snapshot.gangs), MOST_GANGS),
        ("gangs", "pods", pods, MOST_PODS),
        ("queues", "queues", len(snapshot.queues), MOST_QUEUES),
    ):
        if have > most:
            yield ("given", word), f"{have:,} {what}, at most {most:,} are read", ""
    yield from _uncountable(offered, used, asked)


def _total_faults(given: Given) -> Iterator[Fault]:
    """
    Find resources of which all nodes, or all pods, together have too much to count.
    """
    offered: dict[str, int] = {}
    used: dict[str, int] = {}
    asked: dict[str, int] = {}
    for node in given.nodes:
        add(offered, node.allocatable, node.count)
        add(used, node.used, node.count)
    for gang in given.gangs:
        for _, leaf in leaves_of(gang, ()):
            pods = gang.count * (leaf.replicas or leaf.min or 0)
            add(asked, leaf.requests, pods)
    yield from _uncountable(offered, used, asked)


def _uncountable(
    offered: Mapping[str, int], used: Mapping[str, int], asked: Mapping[str, int]
) -> Iterator[Fault]:
    number = len(offered.keys() | used.keys() | asked.keys())
    if number > MOST_RESOURCES:
        what = f"{number:,} different resources, at most {MOST_RESOURCES} are read"
        yield ("given",), what, ""
    for word, noun, totals in (
        ("nodes", "all nodes together offer", offered),
        ("nodes", "on all nodes together is used", used),
        ("gangs", "all pods together ask for", asked),
    ):
        for name, total in sorted(totals.items()):
            if total > LARGEST_TOTAL:
                have, most = (format_quantity(name, x) for x in (total, LARGEST_TOTAL))
                place: Path = ("given", word)
                what = f"{noun} {have} of {name}, at most {most} can be counted"
                yield place, what, ""
