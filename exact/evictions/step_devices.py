"""
Devices in a step of the small model: what lies on them now, and after all have left.
"""

from collections.abc import Mapping

from exact.devices import NewPods, World, add_devices, new_parts
from exact.evictions.step import LONGEST_LEAVING, Place, Step, Term
from exact.model import leaves_of
from models.gangs import Pod, PodPhase, pod_sets

Counts = Mapping[Place, Term]
Opened = Mapping[str, list[Term]]


def add_step_devices(step: Step, calm: Counts) -> tuple[Opened, Opened, Opened]:
    """
    Ensure that devices hold what is bound, what is quiet, and all that will be there.

    Gives what each takes of GPUs, by node.
    """
    after = _add(step, step.small.binds, step.targets, _Stays(step))
    bound = _add(step, step.now, {}, _Stays(step, now=True), after)
    quiet = _add(step, calm, {}, _Stays(step, quiet=True)) if calm else World()
    return bound.opened, quiet.opened, after.opened


def add_leftover_devices(step: Step, mine: Counts, moved: Counts) -> Opened:
    """
    Ensure that starts of the second step need no device that the first one freed.
    """
    stays = _Stays(step, before=True)
    return _add(step, mine, moved, stays).opened


class _Stays:
    """
    Who is still there at the end, ``now``, or as long as nobody else leaves.

    With ``before`` who was frozen to leave is still there.
    """

    def __init__(
        self,
        step: Step,
        *,
        now: bool = False,
        quiet: bool = False,
        before: bool = False,
    ) -> None:
        self.now = now
        self.leaves: dict[str, Term] = {}
        for runner in step.runners if not (now or quiet) else ():
            if not (before and runner.key in step.frozen.departures):
                self.leaves[runner.key] = step.leaves(runner)
        for gang in (step.before.gangs[key].gang for key in step.before.stale):
            for leaf in pod_sets(gang.tree):
                self.leaves |= {f"{gang.namespace}/{x.name}": 1 for x in leaf.pods}

    def __call__(self, name: str, pod: Pod) -> Term:
        """
        Give one for a pod that is there.
        """
        if self.now:
            return 1
        if pod.phase is PodPhase.TERMINATING:
            return int(pod.seconds >= LONGEST_LEAVING)
        return 1 - self.leaves[name] if name in self.leaves else 1


def _add(
    step: Step, pods: Counts, moved: Counts, stays: _Stays, later: World | None = None
) -> World:
    leaves = leaves_of(step.small)
    found: dict[str, list[NewPods]] = new_parts(pods, leaves)
    for node, more in new_parts(moved, leaves, "moved").items():
        found.setdefault(node, []).extend(more)
    return add_devices(step.cp, step.before.snapshot, found, stays, later)
