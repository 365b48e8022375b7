"""
``phalanx plan``: one round over files.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.fallback import warn_of
from adapters.cli.options.shared import (
    DIFFERS,
    Asked,
    Dialects,
    NoColor,
    PlanOutput,
    SchedulerNames,
    Seconds,
    Seed,
    Strategy,
    Workers,
    chosen,
)
from adapters.cli.terminal.output import (
    Format,
    Paint,
    Table,
    as_text,
    emit,
    note,
    say,
    screen_width,
)

if TYPE_CHECKING:
    from adapters.cli.terminal.progress import Progress
    from models.dialects import DialectChoice
    from models.plan import Plan
    from models.policy import Policy
    from models.scenario import Scenario


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Scenario, snapshot or manifests, - is standard input; parts of one.",
    ),
]
Diff = Annotated[
    str | None,
    typer.Option(metavar="greedy", help="Also say what greedy does otherwise."),
]
Timings = Annotated[
    bool, typer.Option("--timings", help="Say how long each phase took.")
]
DetailedExitCode = Annotated[
    bool, typer.Option("--detailed-exitcode", help="Exit 3 if the plan does something.")
]
_FOR_EYES = (Format.TABLE, Format.WIDE)


def plan(
    context: typer.Context,
    files: Files,
    *,
    output: PlanOutput = Format.TABLE,
    strategy: Strategy = None,
    diff: Diff = None,
    seconds: Seconds = None,
    seed: Seed = None,
    workers: Workers = None,
    timings: Timings = False,
    detailed_exitcode: DetailedExitCode = False,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
    no_color: NoColor = False,
) -> int:
    """
    Plan one round: who starts, who makes room for whom, who waits and why.
    """
    name = chosen(strategy)
    if diff not in {None, "greedy"}:
        raise typer.BadParameter("the plan can be compared with greedy only")
    flags = {"seconds": seconds, "seed": seed, "workers": workers}
    source = _PlanSource(
        tuple(files), tuple(scheduler_name or ()), tuple(dialect or ())
    )
    scenario, made, greedy = _decided(
        source, name, flags, against=diff is not None or output in _FOR_EYES
    )
    asked = context.find_object(Asked)
    for each in (made,) if greedy is None or greedy is made else (made, greedy):
        warn_of(each, debug=asked is not None and asked.debug)
    if output in _FOR_EYES:
        from adapters.cli.views.plan_view import view

        paint = Paint(no_color=no_color)
        wide = output is Format.WIDE
        lines = view(
            scenario,
            made,
            greedy,
            paint,
            wide=wide,
            diff=diff is not None,
            width=screen_width(),
        )
        say(*lines)
        if timings:
            say(_timings(made))
    elif output is Format.NAME:
        starting = {"Starting", "Growing"}
        say(*(gang.name for gang in made.gangs if gang.state in starting))
    else:
        shown = made if timings else replace(made, seconds=None)
        emit(_written(shown, greedy if diff else None, output))
    return DIFFERS if detailed_exitcode and made.operations else 0


@dataclass(frozen=True, slots=True)
class _PlanSource:
    """
    Where the snapshot comes from; of manifests, whose pods are planned, and how read.
    """

    files: tuple[str, ...]
    schedulers: tuple[str, ...]
    dialects: "tuple[DialectChoice, ...]"


def _decided(
    source: _PlanSource, name: str, flags: dict[str, float | None], *, against: bool
) -> "tuple[Scenario, Plan, Plan | None]":
    from adapters.cli.terminal.progress import Progress
    from adapters.files import read_scenarios
    from adapters.machine.clock import monotonic
    from adapters.service.settings import effective

    with Progress() as progress:
        start = monotonic()
        scenario = read_scenarios(source.files, source.schedulers, source.dialects)
        read = monotonic() - start
        policy = effective(scenario.policy, flags).policy
        for warning in scenario.snapshot.warnings:
            note(f"warning: {warning}")
        made = _round(scenario, policy, name, progress)
        greedy = None
        if against:
            again = name != "greedy"
            greedy = _round(scenario, policy, "greedy", progress) if again else made
    made = replace(made, seconds={**(made.seconds or {}), "read": read})
    return scenario, made, greedy


def _round(
    scenario: "Scenario", policy: "Policy", name: str, progress: "Progress"
) -> "Plan":
    from adapters.loop.plan_round import planned

    return planned(scenario.snapshot, policy, name, progress.say)


def _written(made: "Plan", greedy: "Plan | None", form: Format) -> str:
    from adapters.files.plan_writer import difference, plan_document

    if form is Format.CSV:
        return _operations(made).csv()
    document = plan_document(made)
    if greedy is not None:
        document["diff"] = difference(made, greedy)
    return as_text(document, form)


def _operations(made: "Plan") -> Table:
    """
    List the operations; only what leaves has the last three cells.
    """
    head = ("OP", "POD", "GANG", "NODE", "FROM", "RULE", "FOR")
    rows = [
        (
            *(step.op, step.pod, step.gang, step.node, step.source or ""),
            *(step.rule or "", " ".join(step.beneficiaries)),
        )
        for step in made.operations
    ]
    return Table(head, rows)


def _timings(made: "Plan") -> str:
    from adapters.files.plan_writer import PHASES

    spent = made.seconds or {}
    return " · ".join(f"{name} {spent.get(name, 0.0):.3f} s" for name in PHASES)
