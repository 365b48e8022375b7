"""
Hints for a step: which gangs start, and which nodes are converted how.
"""

from collections import Counter

from solver.encode.leaving.step_encoding import StepEncoding
from solver.encode.variables import Var
from solver.place.draft import Draft


def hint_step(encoding: StepEncoding, draft: Draft) -> None:
    """
    Tell the model what a draft starts and who leaves in it.
    """
    encoding.model.clear_hints()  # type: ignore[no-untyped-call]
    pairs: list[tuple[Var, int]] = []
    for kind in encoding.types:
        started = [u for u in kind.units if draft.starts(u)]
        if kind.starts.variable is not None:
            pairs.append((kind.starts.variable, len(started)))
        if (
            kind.entitled.variable is not None
            and kind.entitled.variable is not kind.starts.variable
        ):
            num = sum(unit.key in draft.entitled for unit in started)
            pairs.append((kind.entitled.variable, num))
    pairs += _options(encoding, draft)
    whole = {one.gang for one in draft.exits if one.whole}
    pairs += [
        (dead, int(encoding.leaving.victims.wide[at].gang.key in whole))
        for at, dead in encoding.leaving.dead.items()
    ]
    hints = encoding.model.proto.solution_hint
    hints.vars.extend([variable.index for variable, _ in pairs])
    hints.values.extend([value for _, value in pairs])


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
            here = leaving.victims.on_node.get(node, {})
            taken = tuple(
                sum(
                    all(gone[node, thing.gang.key, leaf] for leaf, _ in thing.pods)
                    for thing in here[account]
                )
                for account in group.accounts
            )
            if taken in index:
                numbers[index[taken]] += 1
        pairs += [(leaving.taken[g, o], numbers[o]) for o in range(len(group.options))]
    return pairs
