"""
``phalanx verify``: judge any plan.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from adapters.cli.options.common import DIFFERS, Dialects, Output, SchedulerNames, only
from adapters.cli.terminal.output import Format, as_text, emit, note, say
from models.why.reasons import counted

if TYPE_CHECKING:
    from models.plan import Plan
    from models.snapshot import Snapshot
    from solver import Violation

NOT_JUDGED = "claims of optimality: the values and bounds of tiers"
"""
What a verdict does not say: a plan that holds may be far from the best one.
"""


def verify(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE... PLAN.json",
            help="The snapshot or scenario that the plan is for, in one file or in "
            "parts, and last the plan, JSON or YAML; - is standard input.",
        ),
    ],
    *,
    output: Output = Format.TABLE,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
) -> int:
    """
    Judge any plan: name every rule it breaks.

    Each with its numbers; exit 3 when there is one.
    """
    only(output, Format.TABLE, Format.JSON, Format.YAML)
    *parts, plan = files
    if not parts:
        raise typer.BadParameter(
            f"{plan!r} alone is not enough: first the snapshot, then the plan, which "
            "`phalanx plan FILE -o json` writes"
        )
    from adapters.files import read_plan, read_scenarios
    from solver import judge

    scenario = read_scenarios(parts, scheduler_name or (), dialect or ())
    judged = read_plan(plan)
    doubts = list(_doubts(scenario.snapshot, judged))
    violations = judge(scenario.snapshot, scenario.policy, judged)
    if output is Format.TABLE:
        _tell(judged, violations, doubts)
    else:
        emit(as_text(_document(violations, doubts), output))
    return DIFFERS if violations else 0


def _document(
    violations: "Sequence[Violation]", doubts: Sequence[str]
) -> dict[str, object]:
    items = [
        {"rule": v.rule, "subject": v.subject, "message": v.message} for v in violations
    ]
    return {
        "apiVersion": "phalanx/v1",
        "kind": "Verdict",
        "holds": not violations,
        "items": items,
        "notJudged": [NOT_JUDGED],
        "doubts": list(doubts),
    }


def _tell(
    plan: "Plan", violations: "Sequence[Violation]", doubts: Sequence[str]
) -> None:
    for doubt in doubts:
        note(f"warning: {doubt}")
    if violations:
        say(*map(str, violations))
        rules = len({violation.rule for violation in violations})
        times = counted(len(violations), "violation")
        say(f"broken: {counted(rules, 'rule')}, {times}")
    else:
        steps = counted(len(plan.operations), "operation")
        say(f"holds: {steps}, no rule broken", f"not judged: {NOT_JUDGED}")


def _doubts(snapshot: "Snapshot", plan: "Plan") -> Iterator[str]:
    """
    Say what no rule forbids, and what may nevertheless be another plan than is meant.
    """
    from adapters.compare.outcome import LOSSES
    from models.policy import TierName
    from models.snapshot import content_hash

    own = content_hash(snapshot)
    if not plan.snapshot:
        yield "the plan does not say of which snapshot it is"
    elif plan.snapshot != own:
        yield f"the plan is of another snapshot: {plan.snapshot}, this one is {own}"
    known = {*get_args(TierName), *LOSSES}
    strange = dict.fromkeys(t.name for t in plan.tiers if t.name not in known)
    if strange:
        yield f"no such tier: {', '.join(strange)}"
