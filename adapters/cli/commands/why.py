"""
``phalanx why``: why a gang waits, with a proof, and what would help.
"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.options.common import (
    Asked,
    Dialects,
    NoColor,
    Output,
    SchedulerNames,
    only,
)
from adapters.cli.terminal.output import (
    Format,
    Paint,
    as_text,
    emit,
    note,
    say,
    screen_width,
)
from adapters.cli.views.fallback_view import warn_of
from adapters.cli.views.listed_source import (
    Context,
    Kubeconfig,
    NotThereError,
    Record,
    Round,
    round_named,
)
from adapters.cli.views.plan_source import PlanSource

if TYPE_CHECKING:
    from models.plan import Plan
    from models.scenario import Scenario

_GANG = frozenset({"gang", "gangs"})


def why(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="gang NAME [FILE]...",
            help="Whose, as namespace/name or a name that only one gang has; then "
            "scenario, snapshot or manifests, the cluster if none.",
        ),
    ],
    *,
    round_name: Round = None,
    rounds_path: Record = None,
    kubeconfig: Kubeconfig = None,
    kube_context: Context = None,
    output: Output = Format.TABLE,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
    no_color: NoColor = False,
) -> None:
    """
    Say why a gang waits: the fewest rules that forbid its start, and what would help.
    """
    only(output, Format.TABLE, Format.JSON, Format.YAML)
    if words[0] not in _GANG or len(words) < 2:
        raise typer.BadParameter(
            "say whose: `phalanx why gang NAME FILE`, or without FILE in the cluster"
        )
    _, name, *files = words
    if round_name is not None:
        _recorded(name, round_named(round_name, rounds_path), output)
        return
    source = PlanSource(
        tuple(files),
        (),
        tuple(scheduler_name or ()),
        tuple(dialect or ()),
        kubeconfig,
        kube_context,
    )
    asked = context.find_object(Asked)
    paint = Paint(no_color=no_color)
    _of_gang(source, name, output, paint, debug=asked is not None and asked.debug)


def _of_gang(
    source: PlanSource, name: str, output: Format, paint: Paint, *, debug: bool
) -> None:
    from adapters.cli.terminal.progress import Progress
    from adapters.loop.plan_round import planned
    from adapters.service.settings import effective
    from models.remedies import Remedies
    from models.verdicts import Verdict
    from solver import remedies_of, why_waits

    with Progress() as progress:
        scenario = source.read()
        policy = effective(scenario.policy, {}).policy
        for warning in scenario.snapshot.warnings:
            note(f"warning: {warning}")
        plan = planned(scenario.snapshot, policy, "solver", progress.say)
        key = _key(name, scenario, plan)
        progress.say("why")
        found = why_waits(scenario.snapshot, policy, plan, key)
        remedies = Remedies()
        if found.verdict is not Verdict.NONE:
            progress.say("what would help")
            remedies = remedies_of(scenario.snapshot, policy, plan, key)
    warn_of(plan, debug=debug)
    if output is not Format.TABLE:
        from adapters.files.why_writer import why_document

        emit(as_text(why_document(found, remedies), output))
        return
    from adapters.cli.views.why_view import why_lines

    say(*why_lines(found, remedies, paint, screen_width()))


def _key(name: str, scenario: "Scenario", plan: "Plan") -> str:
    """
    Find the gang that has a name, or the only one in its namespace.
    """
    names = [line.name for line in plan.gangs]
    found = [key for key in names if key == name]
    found = found or [key for key in names if key.rpartition("/")[2] == name]
    if not found:
        raise NotThereError("gang", name, names, scenario.source)
    if len(found) > 1:
        keys = ", ".join(found[:5])
        raise typer.BadParameter(f"{name!r} is the name of several gangs: {keys}")
    return found[0]


def _recorded(name: str, record: dict[str, Any], output: Format) -> None:
    """
    Say what a recorded round said of a gang; it kept no snapshot to prove it by.
    """
    items = record.get("gangs", {}).get("items", ())
    found = [x for x in items if name in {x["name"], x["name"].rpartition("/")[2]}]
    if not found:
        known = [str(item["name"]) for item in items]
        raise NotThereError("gang", name, known, f"round {record['name']}")
    row = found[0]
    said = {
        "apiVersion": "phalanx/v1",
        "kind": "Why",
        "gang": row["name"],
        "state": row["state"],
        "round": record["name"],
        "reason": row["reason"],
        "sentence": row["message"],
    }
    if output is not Format.TABLE:
        emit(as_text(said, output))
        return
    reason = f": {row['reason']}" if row["reason"] else ""
    say(
        f"{row['name']} {row['state']}{reason} (round {record['name']})",
        f"  {row['message'] or 'nothing was said of it'}",
    )
