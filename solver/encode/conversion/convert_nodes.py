"""
From running work to options: nodes grouped by what they hold, and bins by their use.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate

import numpy as np

from solver.encode.conversion.alike_nodes import AlikeNodes, Grouping
from solver.encode.conversion.bins import Bins
from solver.encode.conversion.contents import Contents, undominated
from solver.encode.conversion.options import (
    Conversion,
    Costs,
    CrowdedNode,
    NodeGroup,
    Option,
)
from solver.encode.conversion.usable_room import UsableRoom
from solver.encode.devices.device_kinds import without_devices
from solver.encode.neighbours.domain_parts import parts_by_domain
from solver.encode.node_classes import Level as TopologyLevel
from solver.encode.node_classes import bins_of, domains_of
from solver.evict.victims import Victims
from solver.problem.node_room import Bools
from solver.problem.problem import Problem


def convert(
    problem: Problem,
    shapes: Sequence[int],
    levels: Sequence[TopologyLevel],
    victims: Victims,
    apart: Mapping[int, int],
    singly: Collection[int] = (),
) -> Conversion:
    """
    Work out the groups, options and bins of a step.

    ``shapes`` are those that may get a place, and ``levels`` what they ask for.  Nodes
    ``apart`` form bins of their own, with a tag; victims leave some nodes ``singly``.
    """
    domains, names = domains_of(problem, levels)
    grouping = Grouping(problem, shapes, victims, singly)
    where = np.column_stack([domains, parts_by_domain(problem, shapes)])
    alike = grouping.run(where, apart)
    held = grouping.contents.values()
    bins = Bins(where, apart)
    usable = UsableRoom(problem, list(shapes))
    uses = {id(contents): _Uses(usable, contents) for contents in held}
    groups, crowded_nodes = [], []
    for nodes in alike:
        use = uses[id(nodes.contents)]
        if nodes.contents.crowded:
            crowded_nodes += [_crowded(use, nodes, node, bins) for node in nodes.nodes]
        else:
            groups.append(_group(use, nodes, bins))
    classes = bins_of(problem, list(shapes), levels, bins.samples(), (domains, names))
    return Conversion(tuple(groups), tuple(crowded_nodes), classes)


class _Uses:
    """
    What can be used of nodes with the same contents: choices that are worth having.
    """

    def __init__(self, usable: UsableRoom, contents: Contents) -> None:
        self.usable = usable
        self.contents = contents
        self.cut = usable.cut(contents)
        self.free = usable.free(contents)
        kept = [] if contents.crowded else undominated(contents, self.cut)
        self.kept = [(at, self.fits(at)) for at in kept]

    def fits(self, at: int) -> Bools:
        """
        Tell which shapes fit after a choice.
        """
        return self.usable.fits(self.contents, self.free[at])


def _group(use: _Uses, alike: AlikeNodes, bins: Bins) -> NodeGroup:
    """
    List the choices worth having, and number the bins.
    """
    nodes = tuple(alike.nodes)
    options, base = _options_of(use, nodes[0], alike.costs, bins)
    bins.count({base, *(option.bin for option in options)}, len(nodes))
    return NodeGroup(nodes, alike.accounts, options, base, alike.pieces)


def _crowded(use: _Uses, alike: AlikeNodes, node: int, bins: Bins) -> CrowdedNode:
    """
    Give a node a bin of its own, in which those fit who would if everybody left.
    """
    contents = use.contents
    row = without_devices(use.usable.problem, use.cut[-1])
    return CrowdedNode(
        node=node,
        accounts=alike.accounts,
        rows=contents.rows,
        costs=alike.costs,
        free=contents.free,
        base=bins.own(node, row, use.fits(-1)),
        pieces=alike.pieces,
    )


def _options_of(
    use: _Uses, node: int, costs: Costs, bins: Bins
) -> tuple[tuple[Option, ...], int]:
    """
    List the choices worth having with their bins, and the bin of the node as it is.
    """
    works = [[0, *accumulate(work for work, _ in row)] for row in costs]
    ages = [[0, *accumulate(age for _, age in row)] for row in costs]
    options = []
    base = -1
    for at, fits in use.kept:
        taken = use.contents.choices[at]
        number = bins.of(node, use.cut[at], fits)
        if any(taken):
            work = sum(row[k] for row, k in zip(works, taken, strict=True))
            age = sum(row[k] for row, k in zip(ages, taken, strict=True))
            options.append(Option(taken, work, age, number))
        else:
            base = number
    return tuple(options), base
