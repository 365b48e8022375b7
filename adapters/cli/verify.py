"""
``phalanx verify``: judge any plan.
"""

from typing import Annotated

import typer

from adapters.cli.options import Output, only
from adapters.cli.output import Format, as_text, emit


def verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What is.")],
    plan: Annotated[str, typer.Argument(metavar="PLAN.json", help="What is to be.")],
    *,
    output: Output = Format.TABLE,
) -> int:
    """
    Print every rule that a plan breaks, with numbers; exit 3 when there is one.
    """
    only(output, Format.TABLE, Format.JSON, Format.YAML)
    from adapters.files import read_plan, read_scenario
    from solver.verify import verify as judge

    scenario = read_scenario(file)
    judged = read_plan(plan)
    violations = judge(scenario.snapshot, scenario.policy, judged)
    if output is Format.TABLE:
        for violation in violations:
            emit(str(violation))
        if not violations:
            emit(f"holds: {len(judged.operations)} operations, no rule broken")
    else:
        items = [
            {"rule": v.rule, "subject": v.subject, "message": v.message}
            for v in violations
        ]
        head = {"apiVersion": "phalanx/v1", "kind": "Verdict"}
        document = {**head, "holds": not violations, "items": items}
        emit(as_text(document, output))
    return 3 if violations else 0
