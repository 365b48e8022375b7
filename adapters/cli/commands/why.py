"""
``phalanx why``: why a gang waits, with a proof, and what would help.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
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
from adapters.cli.options.list_options import GangNamespace, InQueue
from adapters.cli.terminal.output import (
    Format,
    Paint,
    as_text,
    emit,
    say,
    screen_width,
    warn,
)
from adapters.cli.views.fallback_view import warn_of
from adapters.cli.views.listed_source import (
    Context,
    Kubeconfig,
    NotThereError,
    Record,
    Round,
    full_name,
    refuse_beside_round,
    round_named,
    the_one,
)
from adapters.cli.views.plan_source import PlanSource

if TYPE_CHECKING:
    from adapters.cli.terminal.progress import Progress
    from models.documents.scenario import Scenario
    from models.plan import GangLine, Plan
    from models.policy import Policy

_GANG = frozenset({"gang", "gangs"})
Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="gang NAME [FILE]...",
        help="The gang, as namespace/name, or a name that only one gang has; then "
        "files: a scenario, a snapshot or manifests. Without files: the cluster.",
    ),
]
Summary = Annotated[
    bool,
    typer.Option("--summary", help="Summarise all gangs that wait; name only files."),
]


def why(
    context: typer.Context,
    words: Words = None,
    *,
    summary: Summary = False,
    namespace: GangNamespace = None,
    queue: InQueue = None,
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
    said = _asked_of(words, summary=summary)
    _refuse_unheard(said[2:], queue, round_name, summary=summary)
    gang = "" if summary else full_name(said[1], namespace)
    if round_name is not None:
        _recorded(gang, round_named(round_name, rounds_path), output)
        return
    source = PlanSource.of(
        said if summary else said[2:],
        schedulers=scheduler_name,
        dialects=dialect,
        kubeconfig=kubeconfig,
        context=kube_context,
    )
    asked = context.find_object(Asked)
    debug = asked is not None and asked.debug
    if summary:
        _of_all(source, output, (namespace, queue), debug=debug)
    else:
        _of_gang(source, gang, output, Paint(no_color=no_color), debug=debug)


def _refuse_unheard(
    files: Sequence[str], queue: str | None, round_name: str | None, *, summary: bool
) -> None:
    """
    Refuse what would be passed over.
    """
    what = ""
    if summary and round_name is not None:
        what = "--summary is for files or the cluster, not for a recorded round; "
        what += "`phalanx describe round NAME` lists who waits"
    elif queue is not None and not summary:
        what = "--queue is for --summary, not for one gang"
    if what:
        raise typer.BadParameter(what)
    if round_name is not None:
        refuse_beside_round(files)


def _asked_of(words: list[str] | None, *, summary: bool) -> list[str]:
    """
    Give the words as they were written; without a summary they must name a gang.
    """
    said = list(words or ())
    if not summary and (len(said) < 2 or said[0] not in _GANG):
        raise typer.BadParameter(
            "name a gang: `phalanx why gang NAME FILE`, without FILE in the cluster; "
            "`phalanx why --summary FILE` is for all gangs"
        )
    if not summary and len(said) == 2 and Path(said[1]).is_file():
        raise typer.BadParameter(
            f"{said[1]} is a file, and no gang is named: `phalanx why gang NAME FILE`"
        )
    return said


def _of_all(
    source: PlanSource,
    output: Format,
    where: tuple[str | None, str | None],
    *,
    debug: bool,
) -> None:
    from adapters.cli.terminal.progress import Progress
    from adapters.machine.garbage import no_collection
    from solver import why_all_wait

    with Progress() as progress, no_collection():
        scenario, policy, plan = _planned(source, progress)
        wanted = _wanted(scenario, plan, *where)
        found = why_all_wait(
            scenario.snapshot,
            policy,
            plan,
            wanted=wanted,
            progress=lambda done, whole: progress.say(f"why: {done} of {whole} gangs"),
        )
    warn_of(plan, debug=debug)
    if output is not Format.TABLE:
        from adapters.files.writing.why_writer import summary_document

        emit(as_text(summary_document(found), output))
        return
    from adapters.cli.views.why_view import summary_lines

    reserved = sum(x.state == "Reserved" and wanted(x.name) for x in plan.gangs)
    waiting = sum(x.state == "Waiting" and not wanted(x.name) for x in plan.gangs)
    say(*summary_lines(found, screen_width(), reserved, waiting))


def _wanted(
    scenario: "Scenario", plan: "Plan", namespace: str | None, queue: str | None
) -> Callable[[str], bool]:
    """
    Tell which gangs are asked for; a queue must be there.
    """
    queues = {line.name: line.queue for line in plan.gangs}
    known = {*queues.values(), *(each.name for each in scenario.snapshot.queues)}
    if queue not in {None, *known}:
        raise NotThereError("queue", f"{queue}", sorted(known), scenario.source)

    def wanted(name: str) -> bool:
        there = namespace in {None, name.partition("/")[0]}
        return there and queue in {None, queues[name]}

    return wanted


def _planned(
    source: PlanSource, progress: "Progress"
) -> "tuple[Scenario, Policy, Plan]":
    """
    Read what is, and plan the round for it.
    """
    from adapters.loop.plan_round import planned
    from adapters.service.settings import effective

    scenario = source.read()
    policy = effective(scenario.policy, {}).policy
    warn(scenario.snapshot.warnings)
    return scenario, policy, planned(scenario.snapshot, policy, "solver", progress.say)


def _of_gang(
    source: PlanSource, name: str, output: Format, paint: Paint, *, debug: bool
) -> None:
    from adapters.cli.terminal.progress import Progress
    from adapters.compare.start_cost import start_cost
    from adapters.machine.garbage import no_collection
    from solver import remedies_of, when_starts, why_waits

    with Progress() as progress, no_collection():
        scenario, policy, plan = _planned(source, progress)
        key = the_one("gang", name, plan.gangs, _name_of, scenario.source).name
        progress.say("why")
        found = why_waits(scenario.snapshot, policy, plan, key)
        progress.say("what the plan would lose with it")
        cost = start_cost(scenario.snapshot, policy, plan, found)
        progress.say("what would help")
        remedies = remedies_of(scenario.snapshot, policy, plan, found)
        when = when_starts(scenario.snapshot, policy, plan, key)
    warn_of(plan, debug=debug)
    if output is not Format.TABLE:
        from adapters.files.writing.why_writer import why_document

        emit(as_text(why_document(found, remedies, when, cost), output))
        return
    from adapters.cli.views.why_view import why_lines

    say(*why_lines(found, remedies, when, cost, paint, screen_width()))


def _name_of(line: "GangLine") -> str:
    return line.name


def _recorded(name: str, record: dict[str, Any], output: Format) -> None:
    """
    Say what a recorded round said of a gang; it kept no snapshot to prove it by.
    """
    items = record.get("gangs", {}).get("items", ())
    where = f"round {record['name']}, which lists who starts, waits or leaves"
    row = the_one("gang", name, items, lambda item: str(item["name"]), where)
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
