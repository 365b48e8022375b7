"""
An answer of a step with evictions, node by node: its bin, and what leaves it.
"""

from collections.abc import Sequence
from dataclasses import replace

from solver.decode.exit_rules import Gone, Value
from solver.encode.leaving.step_encoding import StepEncoding
from solver.encode.node_classes import NodeClass
from solver.evict.victims import Thing


def take(
    gone: Gone, account: int, node: int, count: int, things: Sequence[Thing]
) -> None:
    """
    Let so many of some things of an account leave a node, the least loss first.
    """
    if not count:
        return
    ordered = sorted(
        things, key=lambda thing: (thing.cost, thing.gang.key, -thing.pods[0][0])
    )
    gone.setdefault(account, []).extend((thing, node) for thing in ordered[:count])


class ConvertedNodes:
    """
    Which nodes are in each bin, and which things leave them.
    """

    def __init__(self, encoding: StepEncoding, value: Value) -> None:
        self.encoding = encoding
        self.leaving = encoding.leaving
        self.value = value
        self.gone: Gone = {}
        self._bins: list[list[int]] = [[] for _ in encoding.classes.items]
        self._groups()
        self._crowds()

    def _groups(self) -> None:
        """
        Deal the options of each group to its nodes, in their order.
        """
        victims = self.leaving.victims
        for g, group in enumerate(self.leaving.conversion.groups):
            at = 0
            for o, option in enumerate(group.options):
                number = self.value(self.leaving.taken[g, o])
                for node in group.nodes[at : at + number]:
                    self._join(option.bin, node)
                    for column, count in enumerate(option.taken):
                        if count:
                            things = group.things(victims, node, column)
                            take(self.gone, group.accounts[column], node, count, things)
                at += number
            for node in group.nodes[at:]:
                self._join(group.base, node)

    def _crowds(self) -> None:
        """
        Let things leave crowded nodes one by one.
        """
        for c, crowd in enumerate(self.leaving.conversion.crowds):
            joined = [
                level.bin
                for x, level in enumerate(crowd.levels)
                if self.value(self.leaving.joins[c, x])
            ]
            self._join(joined[0] if joined else crowd.base, crowd.node)
            for account in crowd.accounts:
                literals = self.leaving.crowd.get((c, account), ())
                here = self.leaving.victims.on_node[crowd.node][account]
                number = sum(map(self.value, literals))
                take(self.gone, account, crowd.node, number, here)

    def _join(self, number: int, node: int) -> None:
        if number >= 0:
            self._bins[number].append(node)

    def items(self) -> tuple[NodeClass, ...]:
        """
        Give every bin the nodes that are converted to it.
        """
        return tuple(
            replace(
                item,
                nodes=tuple(nodes),
                parts=tuple(replace(part, nodes=tuple(nodes)) for part in item.parts),
            )
            for item, nodes in zip(self.encoding.classes.items, self._bins, strict=True)
        )
