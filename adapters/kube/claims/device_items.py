"""
Items: what a claim asks for, in pieces that are placed by themselves.

A request without a constraint is as many items of one device each; requests that a
constraint ties together are one item, and one whose alternatives are for several
devices is an item with a choice.  Equal items are one kind, whatever claim and request
they are of.
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
    So many devices of one of some alternatives; in ``counts``, none is all.
    """

    asks: tuple[DeviceAsk, ...]
    counts: tuple[int | None, ...]

    def __str__(self) -> str:
        """
        Name it by the classes of its devices, with how many where it is not one.
        """
        names = dict.fromkeys(ask.device_class.name for ask in self.asks)
        numbers = ["all×" if n is None else f"{n}×" for n in self.counts]
        if len({*numbers}) == 1:
            return numbers[0].removeprefix("1×") + "|".join(names)
        said = zip(numbers, self.asks, strict=True)
        return "|".join(number + ask.device_class.name for number, ask in said)


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
    def choices(self) -> tuple[tuple["Item", int], ...]:
        """
        Say what it is made of: single devices of one of some sorts, or itself once.
        """
        part = self.parts[0]
        numbers = [n for n in part.counts if n is not None]
        several = len(self.parts) == 1 and len(part.asks) > 1 and {*numbers} != {1}
        if self.rules or not several or len(numbers) < len(part.asks):
            return ((self, 1),)
        return tuple(
            (Item((ItemPart((ask,), (1,)),)), number)
            for ask, number in zip(part.asks, numbers, strict=True)
        )

    def __str__(self) -> str:
        """
        Name it by the classes of its devices.
        """
        return "&".join(map(str, self.parts))


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
    number = first.counts[0]
    is_each = number is not None and (len(first.asks) == 1 or {*first.counts} == {1})
    if number is not None and is_each and len(requests) == 1 and not rules:
        one = ItemPart(first.asks, (1,) * len(first.asks))
        return AskedItem(Item((one,)), number, (first,))
    parts = tuple(ItemPart(request.asks, request.counts) for request in requests)
    return AskedItem(Item(parts, tuple(rules)), 1, tuple(requests))
