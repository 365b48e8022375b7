"""
A paused round: what is told of a plan that nobody carries out.
"""

from dataclasses import replace

from models.plan import GangLine, Plan
from models.why.reasons import Waiting

_AS_IT_IS = frozenset({"Waiting", "Running", "Finished"})


def withheld(plan: Plan, why: Waiting) -> Plan:
    """
    Give a plan without its operations: who would get something waits for the pause.

    Its tiers stay: they say what the round is worth once it may act.
    """
    lines = tuple(_line(line, why) for line in plan.gangs)
    return replace(plan, gangs=lines, operations=())


def _line(line: GangLine, why: Waiting) -> GangLine:
    if line.state in _AS_IT_IS:
        return line
    pods = line.pods
    has_enough = pods.running and pods.running >= pods.minimum
    gets_none = line.state == "Evicting" and not pods.binding
    return replace(
        line,
        state="Running" if has_enough or gets_none else "Waiting",
        waiting=None if gets_none else why,
        pods=replace(pods, binding=0, evicting=0),
    )
