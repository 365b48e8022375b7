"""
The smallest core: the fewest rules that together forbid something.

Nothing here knows what is forbidden.  Whoever forbids less lets more through, so what
passes under some rules passes under fewer of them; that is all that is used.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeVar

Rule = TypeVar("Rule")


def smallest_core(
    rules: Sequence[Rule], passes: Callable[[frozenset[Rule]], bool]
) -> frozenset[Rule]:
    """
    Give the fewest of some rules that let nothing pass; of equals those named first.

    Each set of several that lets it pass is grown as far as it goes: no core lies in
    it, so no other part of it need be asked about (implicit hitting sets).
    """
    for some in (frozenset(), *map(frozenset, zip(rules, strict=True))):
        if not passes(some):
            return some
    grown: list[frozenset[Rule]] = []
    for size in range(2, len(rules)):
        for chosen in combinations(rules, size):
            some = frozenset(chosen)
            if any(some <= known for known in grown):
                continue
            if not passes(some):
                return some
            grown.append(_grown(some, rules, passes))
    return frozenset(rules)


def _grown(
    some: frozenset[Rule],
    rules: Sequence[Rule],
    passes: Callable[[frozenset[Rule]], bool],
) -> frozenset[Rule]:
    """
    Add every rule under which it still passes.
    """
    for rule in rules:
        if rule not in some and passes(some | {rule}):
            some |= {rule}
    return some
