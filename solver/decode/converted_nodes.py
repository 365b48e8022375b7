"""
An answer of a step with evictions, node by node: its bin, and what leaves it.
"""

from collections.abc import Sequence
from dataclasses import replace

from solver.decode.exit_rules import Gone, Value
from solver.encode.encoding import Encoding
from solver.encode.leaving.variables import Leaving
from solver.encode.node_classes import NodeClass
from solver.evict.victims import Victim


def take(
    gone: Gone, account: int, node: int, count: int, alike: Sequence[Victim]
) -> None:
    """
    Let so many of some victims of an account leave a node, the least loss first.
    """
    if not count:
        return
    ordered = sorted(
        alike, key=lambda victim: (victim.cost, victim.gang.key, -victim.pods[0][0])
    )
    gone.setdefault(account, []).extend((victim, node) for victim in ordered[:count])


class ConvertedNodes:
    """
    Which nodes are in each bin, and which victims leave them.
    """

    def __init__(self, encoding: Encoding, leaving: Leaving, value: Value) -> None:
        self.encoding = encoding
        self.leaving = leaving
        self.value = value
        self.gone: Gone = {}
        self._bins: list[list[int]] = [[] for _ in encoding.classes.items]
        self._groups()
        self._crowded_nodes()

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
                            alike = group.column_of(victims, node, column)
                            take(self.gone, group.accounts[column], node, count, alike)
                at += number
            for node in group.nodes[at:]:
                self._join(group.base, node)

    def _crowded_nodes(self) -> None:
        """
        Let victims leave crowded nodes one by one.
        """
        victims = self.leaving.victims
        for c, crowded in enumerate(self.leaving.conversion.crowded_nodes):
            self._join(crowded.base, crowded.node)
            for column, account in enumerate(crowded.accounts):
                alike = victims.alike(crowded.node, account, crowded.pieces[column])
                number = sum(map(self.value, self.leaving.crowded[c, column]))
                take(self.gone, account, crowded.node, number, alike)

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
