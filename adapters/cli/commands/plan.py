"""
``phalanx plan``: one round over files, or over a cluster as it is.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.options.common import (
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
    say,
    screen_width,
    warn,
)
from adapters.cli.views.fallback_view import warn_of
from adapters.cli.views.listed_source import Context, Kubeconfig
from adapters.cli.views.plan_source import Files, PlanSource

if TYPE_CHECKING:
    from adapters.cli.terminal.progress import Progress
    from models.documents.scenario import Scenario
    from models.plan import Plan
    from models.policy import Policy


Submitted = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="FILE",
        help="Plan the cluster as if these manifests had been submitted to it.",
    ),
]
Diff = Annotated[
    str | None,
    typer.Option(metavar="greedy", help="Also show what greedy would do."),
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
    files: Files = None,
    *,
    submitted: Submitted = None,
    kubeconfig: Kubeconfig = None,
    kube_context: Context = None,
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
    source = PlanSource.of(
        files,
        submitted=submitted,
        schedulers=scheduler_name,
        dialects=dialect,
        kubeconfig=kubeconfig,
        context=kube_context,
    )
    look = _PlanLook(output, diff, Paint(no_color=no_color), timings=timings)
    flags = {"seconds": seconds, "seed": seed, "workers": workers}
    scenario, made, greedy = _decided(source, chosen(strategy), flags, look)
    asked = context.find_object(Asked)
    for each in (made,) if greedy is None or greedy is made else (made, greedy):
        warn_of(each, debug=asked is not None and asked.debug)
    _show(scenario, made, greedy, look)
    return DIFFERS if detailed_exitcode and made.operations else 0


@dataclass(frozen=True, slots=True)
class _PlanLook:
    """
    How the plan is written.
    """

    form: Format
    diff: str | None
    paint: Paint
    timings: bool

    def __post_init__(self) -> None:
        if self.diff not in {None, "greedy"}:
            raise typer.BadParameter("the plan can be compared with greedy only")

    @property
    def wants_greedy(self) -> bool:
        """
        Tell whether greedy's plan is shown beside it.
        """
        return self.diff is not None or self.form in _FOR_EYES


def _decided(
    source: PlanSource, name: str, flags: dict[str, float | None], look: _PlanLook
) -> "tuple[Scenario, Plan, Plan | None]":
    from adapters.cli.terminal.progress import Progress
    from adapters.machine.clock import monotonic
    from adapters.service.settings import effective

    with Progress() as progress:
        start = monotonic()
        scenario = source.read()
        read = monotonic() - start
        policy = effective(scenario.policy, flags).policy
        warn(scenario.snapshot.warnings)
        made = _round(scenario, policy, name, progress)
        greedy = None
        if look.wants_greedy:
            again = name != "greedy"
            greedy = _round(scenario, policy, "greedy", progress) if again else made
    made = replace(made, seconds={**(made.seconds or {}), "read": read})
    return scenario, made, greedy


def _show(
    scenario: "Scenario", made: "Plan", greedy: "Plan | None", look: _PlanLook
) -> None:
    if look.form in _FOR_EYES:
        from adapters.cli.views.plan_view import view

        lines = view(
            scenario,
            made,
            greedy,
            look.paint,
            wide=look.form is Format.WIDE,
            diff=look.diff is not None,
            width=screen_width(),
        )
        say(*lines)
        if look.timings:
            say(_timings(made))
    elif look.form is Format.NAME:
        starting = {"Starting", "Growing"}
        say(*(gang.name for gang in made.gangs if gang.state in starting))
    else:
        shown = made if look.timings else replace(made, seconds=None)
        emit(_written(shown, greedy if look.diff else None, look.form))


def _round(
    scenario: "Scenario", policy: "Policy", name: str, progress: "Progress"
) -> "Plan":
    from adapters.loop.plan_round import planned

    return planned(scenario.snapshot, policy, name, progress.say)


def _written(made: "Plan", greedy: "Plan | None", form: Format) -> str:
    from adapters.files.writing.plan_writer import difference, plan_document

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
    from adapters.files.writing.plan_writer import PHASES

    spent = made.seconds or {}
    return " · ".join(f"{name} {spent.get(name, 0.0):.3f} s" for name in PHASES)
