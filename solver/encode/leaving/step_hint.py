"""
Hints for a step: which gangs start, and which nodes are converted how.
"""

from collections import Counter

from solver.encode.hint import hint, started
from solver.encode.leaving.step_encoding import StepEncoding
from solver.encode.variables import Var
from solver.place.draft import Draft


def hint_step(encoding: StepEncoding, draft: Draft) -> None:
    """
    Tell the model what a draft starts and who leaves in it.
    """
    pairs = [pair for kind in encoding.types for pair in started(kind, draft)]
    pairs += _options(encoding, draft)
    whole = {one.gang for one in draft.exits if one.whole}
    pairs += [
        (gone_whole, int(encoding.leaving.victims.wide[at].gang.key in whole))
        for at, gone_whole in encoding.leaving.gone_whole.items()
    ]
    hint(encoding.model, pairs)


def _options(encoding: StepEncoding, draft: Draft) -> list[tuple[Var, int]]:
    """
    Find for each node the option that lets just those leave who do.
    """
    leaving = encoding.leaving
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
