"""
Items: what a claim asks for, in pieces that are placed by themselves.

A request without a constraint is as many items of one device each; requests that a
constraint ties together are one item.  Equal items are one kind, whatever claim and
request they are of.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.kube.claims.device_requests import (
    ClaimSpec,
    Constraint,
    DeviceAsk,
    Request,
)


@dataclass(frozen=True, slots=True)
class ItemPart:
    """
    So many devices, each as one of some alternatives says; ``count`` none is all.
    """

    asks: tuple[DeviceAsk, ...]
    count: int | None = 1


@dataclass(frozen=True, slots=True)
class ItemRule:
    """
    An attribute that devices have in common, or in which all of them differ.

    ``concerned`` names parts and their alternatives by number.
    """

    attribute: str
    is_distinct: bool
    concerned: frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Item:
    """
    Devices that are placed together.
    """

    parts: tuple[ItemPart, ...]
    rules: tuple[ItemRule, ...] = ()

    @property
    def is_single(self) -> bool:
        """
        Tell whether it is one device, and nothing else.
        """
        return not self.rules and [part.count for part in self.parts] == [1]

    def __str__(self) -> str:
        """
        Name it by the classes of its devices.
        """
        said = []
        for part in self.parts:
            names = "|".join(dict.fromkeys(ask.device_class.name for ask in part.asks))
            number = "all×" if part.count is None else f"{part.count}×"
            said.append(names if part.count == 1 else number + names)
        return "&".join(said)


@dataclass(frozen=True, slots=True)
class AskedItem:
    """
    An item of a claim, so many ``times``; ``requests`` are those that it is for.
    """

    item: Item
    times: int
    requests: tuple[Request, ...]


def items_of(spec: ClaimSpec) -> tuple[AskedItem, ...]:
    """
    Part a claim into items, in the order of its requests.
    """
    groups = [[at] for at in range(len(spec.requests))]
    for rule in spec.constraints:
        tied = [g for g in groups if any(_is_tied(spec.requests[at], rule) for at in g)]
        groups = [g for g in groups if g not in tied]
        groups += [sorted(at for group in tied for at in group)] if tied else []
    return tuple(
        _asked([spec.requests[at] for at in group], spec.constraints)
        for group in sorted(groups)
    )


def _is_tied(request: Request, rule: Constraint) -> bool:
    return any(rule.concerns(request.name, ask.called) for ask in request.asks)


def _asked(requests: Sequence[Request], constraints: Sequence[Constraint]) -> AskedItem:
    rules = []
    for rule in constraints:
        concerned = frozenset(
            (part, at)
            for part, request in enumerate(requests)
            for at, ask in enumerate(request.asks)
            if rule.concerns(request.name, ask.called)
        )
        if concerned:
            rules.append(ItemRule(rule.attribute, rule.is_distinct, concerned))
    first = requests[0]
    if len(requests) == 1 and not rules and first.count is not None:
        return AskedItem(Item((ItemPart(first.asks),)), first.count, (first,))
    parts = tuple(ItemPart(request.asks, request.count) for request in requests)
    return AskedItem(Item(parts, tuple(rules)), 1, tuple(requests))
