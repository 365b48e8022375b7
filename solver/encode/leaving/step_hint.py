"""
Hints for a step: who leaves, and which nodes are converted how.
"""

from collections import Counter
from collections.abc import Iterator

from solver.encode.conversion.options import CrowdedNode, NodeGroup
from solver.encode.leaving.variables import Leaving
from solver.encode.variables import Var
from solver.place.draft import Draft


class LeavingHint:
    """
    What leaves each node in a draft, as the variables of a step say it.
    """

    def __init__(self, leaving: Leaving, draft: Draft) -> None:
        self.leaving = leaving
        self.whole = {one.gang for one in draft.exits if one.whole}
        self.gone = Counter((one.host, one.gang, one.leaf) for one in draft.exits)
        self.chosen = [*map(self._options, leaving.conversion.groups)]

    def values(self) -> Iterator[tuple[Var, int]]:
        """
        List who leaves, and how nodes are converted for it.
        """
        leaving = self.leaving
        for g, chosen in enumerate(self.chosen):
            numbers = Counter(chosen.values())
            for o in range(len(leaving.conversion.groups[g].options)):
                yield leaving.taken[g, o], numbers[o]
        for at, gone_whole in leaving.gone_whole.items():
            yield gone_whole, int(leaving.victims.wide[at].gang.key in self.whole)
        for at, crowded in enumerate(leaving.conversion.crowded_nodes):
            for column, account in enumerate(crowded.accounts):
                if not leaving.victims.goes_whole(account):
                    number = self._taken(crowded, crowded.node, column)
                    for k, literal in enumerate(leaving.crowded[at, column]):
                        yield literal, int(k < number)

    def bins(self) -> dict[int, int]:
        """
        Give the bin that each node is in once they have left.
        """
        found: dict[int, int] = {}
        for group, chosen in zip(
            self.leaving.conversion.groups, self.chosen, strict=True
        ):
            for node, o in chosen.items():
                found[node] = group.base if o is None else group.options[o].bin
        crowded = self.leaving.conversion.crowded_nodes
        return found | {one.node: one.base for one in crowded}

    def _options(self, group: NodeGroup) -> dict[int, int | None]:
        """
        Find for each node the option that lets just those leave who do, if one does.
        """
        index = {option.taken: o for o, option in enumerate(group.options)}
        columns = range(len(group.accounts))
        return {
            node: index.get(tuple(self._taken(group, node, k) for k in columns))
            for node in group.nodes
        }

    def _taken(self, nodes: NodeGroup | CrowdedNode, node: int, column: int) -> int:
        account, pieces = nodes.accounts[column], nodes.pieces[column]
        return sum(
            all(self.gone[node, victim.gang.key, leaf] for leaf, _ in victim.pods)
            for victim in self.leaving.victims.alike(node, account, pieces)
        )
