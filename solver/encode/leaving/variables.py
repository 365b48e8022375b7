"""
The variables of evictions by meaning: what leaves, and by which rule.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from models.plan import Rule
from solver.effort.cp_sat import cp_model
from solver.encode.conversion.options import Conversion
from solver.encode.variables import Linear, TypeVars, Var
from solver.evict.moved_gangs import Mover
from solver.evict.rights.policy_bounds import EVICTS
from solver.evict.victims import Victims

Parting = defaultdict[Rule, Linear]
"""
What leaves of an account, or of a gang that goes whole, split by rule.
"""


RULES: tuple[Rule, ...] = (*EVICTS, "consolidate")


@dataclass(slots=True, kw_only=True)
class Leaving:
    """
    The variables of evictions, by meaning.

    ``taken[g, o]`` nodes of a group take an option; ``sizes`` are the nodes of each
    bin; ``gone`` counts what leaves per account; ``gone_whole[w]`` says that all of a
    wide gang leaves, ``moved_whole[w]`` that it is moved, ``emptied[w, t]`` that a tree
    node is emptied; ``moved_singly`` counts spare pods that are moved;
    ``crowded[c, k]`` says which victims leave a crowded node, by its column.
    ``below_share`` are literals that hold only where a queue loses of its share.
    ``moved`` are the gangs that may get new places, each with its variables.
    """

    victims: Victims
    conversion: Conversion
    taken: dict[tuple[int, int], Var] = field(default_factory=dict)
    sizes: list[Linear] = field(default_factory=list)
    gone: list[Linear] = field(default_factory=list)
    parting: list[Parting] = field(default_factory=list)
    gone_whole: dict[int, Var] = field(default_factory=dict)
    moved_whole: dict[int, Var] = field(default_factory=dict)
    emptied: dict[tuple[int, int], Var] = field(default_factory=dict)
    moved_singly: dict[int, Var] = field(default_factory=dict)
    crowded: dict[tuple[int, int], list[Var]] = field(default_factory=dict)
    crowded_work: Linear = field(default_factory=Linear)
    crowded_age: Linear = field(default_factory=Linear)
    below_share: list[Var] = field(default_factory=list)
    moved: list[tuple[Mover, TypeVars]] = field(default_factory=list)
    _numbers: Counter[int] | None = None

    def number_of(self, account: int) -> int:
        """
        Count the victims of an account.
        """
        self._numbers = self._numbers or self.victims.numbers()
        wide = self.victims.accounts[account].wide
        if wide >= 0:
            gang = self.victims.wide[wide]
            return 1 if gang.state is None else gang.counts[account]
        return self._numbers[account]

    def stopped(self, wide: int) -> cp_model.LinearExpr:
        """
        Give one if a wide gang is evicted whole, and not moved.
        """
        moved_whole = self.moved_whole.get(wide)
        return (
            self.gone_whole[wide]
            if moved_whole is None
            else self.gone_whole[wide] - moved_whole
        )

    def evicted(self, account: int) -> Linear:
        """
        Count what is evicted of an account.
        """
        total = Linear()
        for rule in EVICTS:
            total.extend(self.parting[account][rule])
        return total
