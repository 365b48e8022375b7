"""
Who may still start in plans that are equal so far, whoever leaves: by adding up GPUs.

Where all start who may, they start in every such plan, and hold their GPUs.  Those who
leave for entitled starts free no more GPUs than they are worth.  Who needs more than
what is left starts in none.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from models.resources import LARGEST_TOTAL
from solver.problem.problem import Problem, Step, Unit
from solver.problem.running_domains import staying
from solver.score.gpu_sums import (
    StartPrices,
    gpus_at_most,
    gpus_needed,
    may_be_entitled,
)
from solver.score.reserved_pods import least_kept
from solver.score.tier import LOSSES, TierKey, tier_of
from solver.score.tiers import trivial_bound


class StillPossible:
    """
    A round before anything was chosen, and what plans that are equal so far may start.

    ``units`` are those that start in some of them; of the ``rest`` not all do.
    ``gpus`` is the most GPUs there may be for these, None where no sum bounds it, and
    ``taken`` how many of them tiers have taken for nobody in particular.
    """

    def __init__(self, bare: Problem, gpus: int | None = None) -> None:
        self.bare = self._seen = bare
        self.units = bare.units
        self.rest = bare.units
        self.gpus = gpus
        self.taken = 0
        self._entitled: set[str] | None = None
        self._prices: dict[TierKey, StartPrices] = {}

    def among(self, problem: Problem) -> Problem:
        """
        Leave out of a round who starts in no plan that is equal so far.
        """
        keys = {unit.key for unit in self.units}
        units = tuple(unit for unit in problem.units if unit.key in keys)
        return replace(problem, units=units)

    def bound(self, key: TierKey) -> int:
        """
        Give a bound of the next tier that holds whatever is evicted and reserved.
        """
        problem = self._counted(key)
        if key.name == "packing" and not any(unit.starts for unit in self.rest):
            return least_kept(problem)
        if not tier_of(key.name).by_band:
            return widest_bound(problem, key)
        gpus = LARGEST_TOTAL if self.gpus is None else max(0, self.gpus - self.taken)
        most = self._priced(problem, key).most(gpus)
        return tier_of(key.name).decided(problem, key) + most

    def _counted(self, key: TierKey) -> Problem:
        """
        See the round with those only that may count in the next tier.
        """
        if key.name != "entitled":
            return self._with(self.rest if key.name == "borrowing" else self.units)
        if self._entitled is None:
            may = partial(may_be_entitled, self.bare)
            self._entitled = {unit.key for unit in self.units if may(unit)}
        mine = self._entitled
        return self._with(tuple(unit for unit in self.units if unit.key in mine))

    def _with(self, units: tuple[Unit, ...]) -> Problem:
        if len(units) != len(self._seen.units) or units != self._seen.units:
            self._seen = replace(self.bare, units=units)
        return self._seen

    def _priced(self, problem: Problem, key: TierKey) -> StartPrices:
        """
        Give the prices of the next tier, which are asked for before it is taken.
        """
        if key not in self._prices:
            self._prices = {key: StartPrices(problem, key, problem.units)}
        return self._prices[key]

    def take(self, key: TierKey, value: int) -> bool:
        """
        Take in that plans are equal in the next tier; tell whether none is better.
        """
        if tier_of(key.name).by_band:
            return self._start(key, value)
        is_best = value == self.bound(key)
        if key.name == "disruption-size":
            started = {unit.key for unit in self.units} - {u.key for u in self.rest}
            self.gpus = gpus_at_most(self.bare, value)
            self._hold([unit for unit in self.units if unit.key in started])
        return is_best

    def _start(self, key: TierKey, value: int) -> bool:
        """
        Let those start for sure who do where all do, or take the GPUs of as much.
        """
        problem = self._counted(key)
        if value == trivial_bound(problem, key):
            counted = {u.key for u in problem.units if u.starts and u.band in key.bands}
            sure = [unit for unit in self.rest if unit.key in counted]
            self.rest = tuple(unit for unit in self.rest if unit.key not in counted)
            self._hold(sure)
            return True
        is_best = value == self.bound(key)
        added = value - tier_of(key.name).decided(problem, key)
        self.taken += self._priced(problem, key).least(added)
        return is_best

    def _hold(self, sure: Sequence[Unit]) -> None:
        """
        Let some start for sure, and leave out who needs more GPUs than are left.
        """
        if self.gpus is None:
            return
        self.gpus -= sum(map(gpus_needed, sure))
        large = {
            unit.key
            for unit in self.rest
            if unit.starts and gpus_needed(unit) > self.gpus
        }
        self.rest = tuple(unit for unit in self.rest if unit.key not in large)
        self.units = tuple(unit for unit in self.units if unit.key not in large)


def nearer_bounds(
    problem: Problem,
    keys: Sequence[TierKey],
    values: Sequence[int],
    bounds: Sequence[int],
) -> list[int]:
    """
    Bring bounds of what starts in a step nearer, up to the first that is not reached.
    """
    gpus = None
    if problem.step is not Step.ENTITLED:
        gpus = gpus_at_most(problem, idle=problem.step is Step.IDLE)
    possible = StillPossible(problem, gpus)
    found = [*bounds]
    for at, (key, value) in enumerate(zip(keys, values, strict=True)):
        if key.name in LOSSES:
            continue
        if not tier_of(key.name).by_band:
            break
        found[at] = min(bounds[at], possible.bound(key))
        if found[at] != value:
            break
        possible.take(key, value)
    return found


def widest_bound(problem: Problem, key: TierKey) -> int:
    """
    Give a bound of one tier that holds whatever is evicted and reserved.

    The ``problem`` is the round before anything was frozen.
    """
    match key.name:
        case name if name in LOSSES:
            return 0
        case "entitled":
            mine = tuple(u for u in problem.units if may_be_entitled(problem, u))
            return trivial_bound(replace(problem, units=mine), key)
        case "topology":
            return trivial_bound(staying(problem), key)
        case _:
            return trivial_bound(problem, key)
