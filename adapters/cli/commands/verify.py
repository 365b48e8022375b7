"""
``phalanx verify``: judge any plan.
"""

from typing import Annotated

import typer

from adapters.cli.options.shared import DIFFERS, Dialects, Output, SchedulerNames, only
from adapters.cli.terminal.output import Format, as_text, emit, say
from models.reasons import counted


def verify(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="The snapshot or scenario that the plan is for."
        ),
    ],
    plan: Annotated[
        str, typer.Argument(metavar="PLAN.json", help="The plan; - is standard input.")
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
    from adapters.files import read_plan, read_scenarios
    from solver.verify import verify as judge

    scenario = read_scenarios(files, scheduler_name or (), dialect or ())
    judged = read_plan(plan)
    violations = judge(scenario.snapshot, scenario.policy, judged)
    if output is Format.TABLE:
        for violation in violations:
            say(str(violation))
        if violations:
            rules = len({violation.rule for violation in violations})
            times = counted(len(violations), "violation")
            say(f"broken: {counted(rules, 'rule')}, {times}")
        if not violations:
            steps = counted(len(judged.operations), "operation")
            say(f"holds: {steps}, no rule broken")
    else:
        items = [
            {"rule": v.rule, "subject": v.subject, "message": v.message}
            for v in violations
        ]
        head = {"apiVersion": "phalanx/v1", "kind": "Verdict"}
        document = {**head, "holds": not violations, "items": items}
        emit(as_text(document, output))
    return DIFFERS if violations else 0
