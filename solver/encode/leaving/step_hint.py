"""
Hints for a step: who leaves, and which nodes are converted how.
"""

from collections import Counter

from solver.encode.leaving.variables import Leaving
from solver.encode.variables import Var
from solver.place.draft import Draft


def leaving_values(leaving: Leaving, draft: Draft) -> list[tuple[Var, int]]:
    """
    List who leaves in a draft, and how nodes are converted for it.
    """
    whole = {one.gang for one in draft.exits if one.whole}
    return _options(leaving, draft) + [
        (gone_whole, int(leaving.victims.wide[at].gang.key in whole))
        for at, gone_whole in leaving.gone_whole.items()
    ]


def _options(leaving: Leaving, draft: Draft) -> list[tuple[Var, int]]:
    """
    Find for each node the option that lets just those leave who do.
    """
    gone: Counter[tuple[int, str, int]] = Counter(
        (one.host, one.gang, one.leaf) for one in draft.exits
    )
    pairs: list[tuple[Var, int]] = []
    for g, group in enumerate(leaving.conversion.groups):
        numbers: Counter[int] = Counter()
        index = {option.taken: o for o, option in enumerate(group.options)}
        for node in group.nodes:
            taken = tuple(
                sum(
                    all(gone[node, victim.gang.key, leaf] for leaf, _ in victim.pods)
                    for victim in group.column_of(leaving.victims, node, column)
                )
                for column in range(len(group.accounts))
            )
            if taken in index:
                numbers[index[taken]] += 1
        pairs += [(leaving.taken[g, o], numbers[o]) for o in range(len(group.options))]
    return pairs
