"""
Whether "at the latest" is true: played to its end, the gang has started by then.

What runs ends as late as its limit lets it, or never where it has outlived it.  A round
is planned at each end, and when somebody is tried again.
"""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from models.changes import PassedTime, changed
from models.changes.cancelled_gangs import CancelledGangs, without_gangs
from models.changes.passed_time import ends_in
from models.gangs import PodPhase, pod_sets
from solver import StartsAsked, carry_out, decide_or_fall_back, next_moment
from solver.problem.problem import problem_of

_STARTED = {"Starting", "Running", "Growing"}
_MOST_ROUNDS = 60


def limited(snapshot, seed):
    """
    Let most of what runs have a limit, and most of what waits, too; some outlive it.

    Some have waited for so long that nodes are held for them.
    """
    chance, waited = Random(f"limits-{seed}"), Random(f"heads-{seed}")
    gangs = []
    for gang in snapshot.gangs:
        ran = max(
            (pod.seconds for x in pod_sets(gang.tree) for pod in x.pods), default=0
        )
        limit = ran + 600 * chance.randint(1, 12) if chance.random() < 0.85 else None
        limit = ran - 1 if ran and chance.random() < 0.1 else limit
        passed_over = max(gang.passed_over, 86400 * waited.choice((0, 0, 1, 7)))
        gangs.append(replace(gang, max_runtime=limit, passed_over=passed_over))
    return replace(snapshot, gangs=tuple(gangs))


def problems_of_starts(snapshot, policy, plan, ended=None) -> Iterator[str]:
    """
    Say which gangs were told a start by which they do not start.

    With chances for what has ``ended`` some of what runs ends before its limit.
    """
    asked = StartsAsked(problem_of(snapshot, policy), plan)
    for line in plan.gangs:
        found = asked.when(line.name)
        if line.state != "Waiting" or found.latest is None:
            continue
        if not _starts_by(snapshot, policy, plan, line.name, found.latest, ended):
            yield f"{line.name} waits beyond {found.latest} s: {found.sentence}"


def _starts_by(snapshot, policy, plan, gang, latest, ended) -> bool:
    """
    Play rounds until a gang starts, or it should have.

    Who was made to leave is gone at once, and whoever it was for binds then.
    """
    now = 0
    for _ in range(_MOST_ROUNDS):
        if any(x.name == gang and x.state in _STARTED for x in plan.gangs):
            return True
        after = carry_out(snapshot, plan, 0)
        if any(step.op in {"Evict", "Move"} for step in plan.operations):
            snapshot, plan = after, decide_or_fall_back(after, policy)
            continue
        moments = [ends_in(x) for x in after.gangs] + [x.backoff for x in after.gangs]
        moments += [next_moment(after, policy, plan)]
        soonest = min((moment for moment in moments if moment), default=latest + 1)
        if ended is not None:
            after = _some_end(after, gang, ended)
            soonest = min(soonest, ended.choice((60, 600, latest + 1)))
        if now + soonest > latest:
            return False
        now += soonest
        snapshot = changed(after, (PassedTime(seconds=soonest),))
        plan = decide_or_fall_back(snapshot, policy)
    return False


def _some_end(snapshot, gang, chance):
    """
    Let each gang that runs, but for one, end with a small chance.
    """
    phases = {
        one.key: {pod.phase for leaf in pod_sets(one.tree) for pod in leaf.pods}
        for one in snapshot.gangs
    }
    runs = [key for key, some in phases.items() if PodPhase.RUNNING in some]
    gone = [key for key in runs if key != gang and chance.random() < 0.15]
    return without_gangs(snapshot, CancelledGangs(gangs=tuple(gone)))
