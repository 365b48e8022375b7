"""
Measured answers: why gangs wait, what would help and when, and what would be if.

Each is asked as the commands ask, with nothing kept from the one before; the round they
are about was planned in the same process, so that seconds may be told in rounds.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from adapters.compare.start_cost import start_cost
from adapters.compare.what_would_be import WhatIfAsked, answer
from adapters.machine.clock import monotonic
from adapters.machine.garbage import no_collection
from benchmarks.contract import Rounds, load_contract
from benchmarks.contract_why import Asked, Why
from benchmarks.planned import planned
from benchmarks.rows import Range, Row
from benchmarks.world import facts_of, make_world
from models.changes import AddedNodes
from models.policy import Policy
from models.snapshot import Snapshot
from solver import RoundAsked, remedies_of, when_starts, why_all_wait, why_waits

Found = TypeVar("Found")


def measure_why(contract: Why) -> Iterator[Row]:
    """
    Measure single answers, a summary of all that waits, and ``what-if``.
    """
    base = load_contract(contract.base)
    if not isinstance(base, Rounds):
        raise TypeError(f"{contract.name}: {contract.base} is no row of rounds")
    asked = _AskedRound(make_world(base.world), base.runs[0].policy)
    yield from _of_gangs(contract, asked)
    if contract.reach.summary is not None:
        yield _of_all(contract, contract.reach.summary, asked)
    yield _of_changes(contract, asked)


class _AskedRound:
    """
    A round that was planned, and how long that took.
    """

    def __init__(self, snapshot: Snapshot, policy: Policy) -> None:
        self.snapshot = snapshot
        self.policy = policy
        self.seconds, self.plan = _timed(lambda: planned(snapshot, policy))

    def row(
        self,
        name: str,
        seconds: Sequence[float],
        limit: float,
        facts: Mapping[str, float] | None = None,
    ) -> Row:
        """
        Tell the worst of some seconds, also as a multiple of the round's.
        """
        worst = max(seconds)
        return Row(
            name=name,
            seconds={"total": worst, "median": statistics.median(seconds)},
            facts={
                **facts_of(self.snapshot),
                "roundSeconds": self.seconds,
                "rounds": worst / self.seconds,
                **(facts or {}),
            },
            ranges=(Range(what="seconds", value=worst, limit=limit),),
        )

    def some(self, asked: Asked) -> tuple[list[str], Counter[str]]:
        """
        Choose the gangs that are timed, and count the verdicts of all looked at.
        """
        waits = [line.name for line in self.plan.gangs if line.state == "Waiting"]
        step = max(1, len(waits) // asked.gangs)
        every = RoundAsked(self.snapshot, self.policy, self.plan)
        known: dict[str, list[str]] = {}
        for name in waits[::step]:
            known.setdefault(every.told(name).verdict.value, []).append(name)
        chosen = [name for names in known.values() for name in _spread(names, asked)]
        return chosen, Counter({word: len(names) for word, names in known.items()})


def _spread(names: Sequence[str], asked: Asked) -> Sequence[str]:
    return names[:: -(-len(names) // asked.each)]


@dataclass(frozen=True, slots=True)
class _Answer:
    """
    The seconds of one gang's answers, and of how many changes that were left out.
    """

    why: float
    remedies: float
    when: float
    helps: bool
    untried: int

    @property
    def all(self) -> float:
        return self.why + self.remedies + self.when


def _of_gangs(contract: Why, asked: _AskedRound) -> Iterator[Row]:
    names, verdicts = asked.some(contract.asked)
    answers = [_answer(asked, name) for name in names]
    facts: dict[str, float] = {"asked": len(answers), **verdicts}
    said = [one.why for one in answers]
    yield asked.row(f"{contract.name} why", said, contract.reach.why, facts)
    facts |= {
        "helped": sum(one.helps for one in answers),
        "leftOut": sum(one.untried > 0 for one in answers),
        "worstRemedies": max(one.remedies for one in answers),
        "worstWhen": max(one.when for one in answers),
    }
    said = [one.all for one in answers]
    yield asked.row(f"{contract.name} all", said, contract.reach.all, facts)


def _answer(asked: _AskedRound, gang: str) -> _Answer:
    given = asked.snapshot, asked.policy, asked.plan
    first, why = _timed(lambda: why_waits(*given, gang))
    lost, _ = _timed(lambda: start_cost(*given, why))
    second, found = _timed(lambda: remedies_of(*given, why))
    third, _ = _timed(lambda: when_starts(*given, gang))
    return _Answer(first + lost, second, third, bool(found.found), found.untried)


def _of_all(contract: Why, limit: float, asked: _AskedRound) -> Row:
    given = asked.snapshot, asked.policy, asked.plan
    seconds, told = _timed(lambda: why_all_wait(*given))
    facts = {"waiting": told.gangs, "tried": told.tried, "untried": told.untried}
    return asked.row(f"{contract.name} summary", [seconds], limit, facts)


def _of_changes(contract: Why, asked: _AskedRound) -> Row:
    """
    Ask what would be, each time beside a round of its own; the median ratio counts.
    """
    change = AddedNodes(like=asked.snapshot.nodes[0].name, number=contract.added)
    asking = WhatIfAsked(
        contract.name, asked.snapshot, asked.policy, [change], asked.policy
    )
    ratios, seconds = [], []
    for _ in range(contract.repeat):
        alone, _ = _timed(lambda: planned(asked.snapshot, asked.policy))
        both, _ = _timed(lambda: answer(asking, lambda _: None))
        ratios.append(both / alone)
        seconds.append(both)
    ratio = statistics.median(ratios)
    return Row(
        name=f"{contract.name} what-if",
        seconds={"total": statistics.median(seconds)},
        facts={**facts_of(asked.snapshot), "rounds": ratio, "worst": max(ratios)},
        ranges=(Range(what="rounds", value=ratio, limit=contract.reach.rounds),),
    )


def _timed(made: Callable[[], Found]) -> tuple[float, Found]:
    """
    Do something as commands do, and say how long it took.
    """
    began = monotonic()
    with no_collection():
        found = made()
    return monotonic() - began, found
