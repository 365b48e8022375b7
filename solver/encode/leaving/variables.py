"""
The variables of evictions by meaning: what leaves, and by which rule.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from models.plan import Rule
from solver.effort.cp_sat import cp_model
from solver.encode.conversion.options import Conversion
from solver.encode.variables import Linear, Var
from solver.evict.victims import Victims

Parting = defaultdict[Rule, Linear]
"""
What leaves of an account, or of a gang that goes whole, split by rule.
"""


EVICTS: tuple[Rule, ...] = ("reclaim", "preempt")
"""
The rules by which work is evicted, and not only moved.
"""


RULES: tuple[Rule, ...] = (*EVICTS, "consolidate")


@dataclass(slots=True, kw_only=True)
class Leaving:
    """
    The variables of evictions, by meaning.

    ``taken[g, o]`` nodes of a group take an option; ``sizes`` are the nodes of each
    bin; ``gone`` counts what leaves per account; ``dead[w]`` says that all of a wide
    gang leaves, ``away[w]`` that it is moved, ``emptied[w, t]`` that a tree node is
    emptied, ``drifting`` counts spare pods that are moved; ``joins[c, x]`` says that a
    crowded node joins a bin, ``crowd`` which of its things leave.  ``below_share`` are
    literals that hold only where a queue loses something of its share.
    """

    victims: Victims
    conversion: Conversion
    taken: dict[tuple[int, int], Var] = field(default_factory=dict)
    sizes: list[Linear] = field(default_factory=list)
    gone: list[Linear] = field(default_factory=list)
    parting: list[Parting] = field(default_factory=list)
    dead: dict[int, Var] = field(default_factory=dict)
    away: dict[int, Var] = field(default_factory=dict)
    emptied: dict[tuple[int, int], Var] = field(default_factory=dict)
    drifting: dict[int, Var] = field(default_factory=dict)
    joins: dict[tuple[int, int], Var] = field(default_factory=dict)
    crowd: dict[tuple[int, int], list[Var]] = field(default_factory=dict)
    crowd_work: Linear = field(default_factory=Linear)
    crowd_age: Linear = field(default_factory=Linear)
    below_share: dict[str, list[Var]] = field(default_factory=dict)
    _numbers: list[int] | None = None

    def number_of(self, account: int) -> int:
        """
        Count the things of an account.
        """
        if self._numbers is None:
            self._numbers = [0] * len(self.victims.accounts)
            for here in self.victims.on_node.values():
                for at, things in here.items():
                    self._numbers[at] += len(things)
        wide = self.victims.accounts[account].wide
        if wide >= 0:
            gang = self.victims.wide[wide]
            return 1 if gang.state is None else gang.counts[account]
        return self._numbers[account]

    def stopped(self, wide: int) -> cp_model.LinearExpr:
        """
        Give one if a wide gang is evicted whole, and not moved.
        """
        away = self.away.get(wide)
        return self.dead[wide] if away is None else self.dead[wide] - away

    def evicted(self, account: int) -> Linear:
        """
        Count what is evicted of an account.
        """
        total = Linear()
        for rule in EVICTS:
            total.extend(self.parting[account][rule])
        return total
