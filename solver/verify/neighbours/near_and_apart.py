"""
Rules about pods that must be near others, and about pods that must not.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from models.neighbours import Apart, Near
from solver.verify.evidence import Evidence
from solver.verify.neighbours.occupants import Occupant, occupants
from solver.verify.violation import Violation

Domain = tuple[str, str]


def pods_apart(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no pod with a place shares a domain with one it must be apart from.

    It counts both ways, and who is about to leave is still there for what is bound.
    """
    found = occupants(evidence)
    rules = {rule for one in found for rule in one.said.apart}
    for rule in sorted(rules):
        for value, here in sorted(_by_domain(found, rule.key).items()):
            for one in here:
                if rule in one.said.apart and _clashes(rule, one, here):
                    what = f"{rule.pods} by {rule.key}={value}"
                    message = f"a pod on {one.node.name} is apart from {what}"
                    gang = one.gang or next(x.gang for x in here if x.new)
                    yield Violation("pods-apart", gang, message)
                    break


def _by_domain(found: Iterable[Occupant], key: str) -> dict[str, list[Occupant]]:
    here: dict[str, list[Occupant]] = {}
    for one in found:
        value = one.node.labels.get(key)
        if value is not None:
            here.setdefault(value, []).append(one)
    return here


def _clashes(rule: Apart, one: Occupant, here: Sequence[Occupant]) -> bool:
    """
    Tell whether a pod with a rule is beside one that it may not be beside.
    """
    mine = rule.pods in one.said.selected
    members = [other for other in here if rule.pods in other.said.selected]
    for other in members:
        own = int(mine and other is one)
        now = other.stay + other.ending + other.bound + other.later
        if one.bound and now > own:
            return True
        if one.later and other.stay + other.new > own:
            return True
        if (one.stay or one.ending) and other.bound:
            return True
        if one.stay and other.later:
            return True
    return False


def pods_near(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every pod with a place has those around it that it must be near to.

    What is bound has them among those that stay and are bound; what comes later, once
    all that leaves is gone, among all that are there then.
    """
    found = occupants(evidence)
    now = [replace(one, later=0) for one in found]
    yield from dict.fromkeys((*_without_near(now), *_without_near(found)))


def _without_near(found: Sequence[Occupant]) -> Iterator[Violation]:
    """
    Walk pods that come at one moment and are not near to those they look for.

    Those count that stay, and those that come in an order in which each finds them; of
    those that look for their like the first of all may be anywhere.
    """
    missing = [one for one in found if one.new and one.said.near]
    there = [one for one in found if one.stay or (one.new and not one.said.near)]
    ever = [one for one in found if one.stay or one.ending]
    settle(missing, there)
    for one in _behind_the_first(missing, there, ever, ()):
        if (want := one.said.near) is not None:
            what = f"no pod that {want.pods} selects is near a pod on {one.node.name}"
            yield Violation("pods-near", one.gang, f"{what}, by {', '.join(want.keys)}")


def _behind_the_first(
    missing: list[Occupant],
    there: list[Occupant],
    ever: Sequence[Occupant],
    first: tuple[Occupant, ...],
) -> list[Occupant]:
    """
    Give those that find nobody, if the best of them come first of their like.

    Whoever comes first does so before all others, since it looks for nobody.
    """
    best, tried = missing, set()
    keys = sorted({key for one in missing for key in _near(one).keys})
    for one in missing:
        kind = one.said, tuple(one.node.labels.get(key) for key in keys)
        begun = (*first, one)
        if kind in tried or not _may_be_first(one, ever) or not _have_order(begun):
            continue
        tried.add(kind)
        rest = [other for other in missing if other is not one]
        have = [*there, one]
        settle(rest, have)
        rest = _behind_the_first(rest, have, ever, begun)
        if len(rest) < len(best):
            best = rest
        if not best:
            break
    return best


def _have_order(first: Sequence[Occupant]) -> bool:
    """
    Tell whether pods can come so that each is the first of its like at that moment.
    """
    left = list(first)
    while left:
        free = [
            one
            for one in left
            if not any(_is_seen(_near(x), one) for x in left if x is not one)
        ]
        if not free:
            return False
        left.remove(free[0])
    return True


def _near(one: Occupant) -> Near:
    assert one.said.near is not None
    return one.said.near


def settle(missing: list[Occupant], there: list[Occupant]) -> None:
    """
    Let pods come as long as one finds those that it must be near to.
    """
    seen: set[tuple[str, Domain]] = set()
    for one in there:
        _add(seen, one)
    moved = True
    while moved:
        moved = False
        for one in list(missing):
            near = one.said.near
            if near is not None and all(
                (near.pods, (key, one.node.labels.get(key, ""))) in seen
                and key in one.node.labels
                for key in near.keys
            ):
                missing.remove(one)
                there.append(one)
                _add(seen, one)
                moved = True


def _add(seen: set[tuple[str, Domain]], one: Occupant) -> None:
    for name in one.said.selected:
        seen.update((name, pair) for pair in one.node.labels.items())


def _may_be_first(one: Occupant, ever: Sequence[Occupant]) -> bool:
    """
    Tell whether a pod looks for its like, of which none is or was there.
    """
    near = one.said.near
    return (
        near is not None
        and near.pods in one.said.selected
        and all(key in one.node.labels for key in near.keys)
        and not any(_is_seen(near, other) for other in ever)
    )


def _is_seen(near: Near, one: Occupant) -> bool:
    return near.pods in one.said.selected and any(
        key in one.node.labels for key in near.keys
    )
