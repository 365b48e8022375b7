"""
Turns: what it costs all others that a gang goes first, and what holding may cost.

Whoever waits is held up by every GPU-second that idles for a head and by those that it
runs for beyond those that he would himself, by one part in the cluster's GPUs.  A head
has its turn once it was passed over for longer than that holds up all of them together.
"""

from collections import Counter
from math import ceil

from models.policy import Policy
from models.resources import num_gpus
from models.snapshot import Snapshot
from solver.hold.ends import SOONEST, typical_age
from solver.problem.lateness import passed_over, unit_gpus
from solver.problem.problem import Problem, Unit


class Turns:
    """
    The scales of one round: who outweighs what its turn costs, and the budget left.
    """

    def __init__(self, problem: Problem) -> None:
        snapshot, policy = problem.snapshot, problem.policy
        self._gpus = _cluster_gpus(snapshot)
        self._outweigh = policy.waiting.outweigh
        self._waiting = Counter(unit_gpus(u) for u in problem.units if u.starts)
        for gpus, number in snapshot.also_waiting:
            self._waiting[gpus] += number
        self._age = typical_age(problem)
        self._run_time = max(SOONEST, 2 * self._age)
        self._left = budget_left(snapshot, policy)

    def has_turn(self, unit: Unit, idle: int = 0) -> bool:
        """
        Tell whether a unit has waited for longer than its turn holds up all others.

        Until it can start so many GPU-seconds are ``idle``.
        """
        others = self._waiting.total() - 1
        work = others * idle + self._more_than_others(unit) * self._run_time
        return passed_over(unit) * self._gpus >= self._outweigh * work

    def turn_in(self, unit: Unit, idle: int = 0, fading: int = 0) -> int | None:
        """
        Give the seconds until a unit has its turn at the soonest; 0 if it has.

        Till then what runs grows older, too; where that outweighs its waiting, none.
        What idles is less by ``fading`` with each second.
        """
        if self.has_turn(unit, idle):
            return 0
        others = self._outweigh * (self._waiting.total() - 1)
        gain = self._gpus + others * fading
        if not gain:
            return None
        price = self._outweigh * self._more_than_others(unit)
        short = others * idle - passed_over(unit) * self._gpus
        soonest = max(0, price * SOONEST + short) / gain
        older = gain - 2 * price * (self._age > 0)
        short += 2 * price * self._age
        if older > 0:
            return max(1, ceil(max(soonest, short / older)))
        return max(1, ceil(soonest)) if short <= older * soonest else None

    def turn_ends_in(self, unit: Unit, idle: int = 0, fading: int = 0) -> int | None:
        """
        Give the seconds until a unit has its turn no longer, as what runs grows older.

        ``idle`` fades by so much with each second at least.
        """
        others = self._outweigh * (self._waiting.total() - 1)
        price = self._outweigh * self._more_than_others(unit) * (self._age > 0)
        growing = 2 * price - self._gpus - others * fading
        spare = passed_over(unit) * self._gpus - others * idle - 2 * price * self._age
        return int(spare / growing) + 1 if growing > 0 else None

    def _more_than_others(self, unit: Unit) -> int:
        """
        Add up over all who wait the GPUs that a unit takes and they would not.
        """
        own = unit_gpus(unit)
        return sum(max(0, own - gpus) * n for gpus, n in self._waiting.items())

    def affords(self, idle: int) -> bool:
        """
        Tell whether so many GPU-seconds may idle yet, and book them.
        """
        if idle > max(0, self._left):
            return False
        self._left -= idle
        return True

    def affords_in(self, idle: int, fading: int) -> int | None:
        """
        Give the seconds until so many GPU-seconds may idle, less with each of them.
        """
        over = idle - max(0, self._left)
        if over <= 0:
            return 0
        return ceil(over / fading) if fading else None

    def afforded_for(self, growing: int) -> int | None:
        """
        Give the seconds until what is booked is more than is left of the budget.

        ``growing`` is by how much more of it is used than what is booked fades.
        """
        return int(self._left // growing) + 1 if growing > 0 else None


def most_held(first: int, slip: float) -> float:
    """
    Give for how many seconds nodes are held for a gang that was to start in so many.
    """
    return slip * max(SOONEST, first)


def budget_left(snapshot: Snapshot, policy: Policy) -> float:
    """
    Give the GPU-seconds that may idle yet in the present window, held for heads.
    """
    waiting = policy.waiting
    whole = waiting.window * _cluster_gpus(snapshot)
    return waiting.budget * whole - snapshot.held


def _cluster_gpus(snapshot: Snapshot) -> int:
    """
    Count the GPUs of all nodes that take pods.
    """
    nodes = (node for node in snapshot.nodes if not node.unschedulable)
    return sum(num_gpus(node.allocatable) for node in nodes)
