"""
What the commands that play traces share: their options, and a trace on its cluster.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.terminal.output import note
from models.why.reasons import counted

if TYPE_CHECKING:
    from adapters.replay.estimates import Estimates as KnownTimes
    from adapters.service.settings import Flags, Settings
    from adapters.traces.row_faults import Tally
    from models.policy import Policy
    from models.trace import Floor, Trace

Form = Annotated[
    str | None,
    typer.Option(
        "--form",
        metavar="own|philly|openb|dlrm|swf|round",
        help="The form of the trace, where its name and columns do not say it.",
    ),
]
Cluster = Annotated[
    str,
    typer.Option(
        "--cluster",
        metavar="WORD|FILE",
        help="60x8, 10x8+20x4, a list of machines, LIST@96 for so many of it, or a "
        "snapshot.",
    ),
]
Quotas = Annotated[
    str | None,
    typer.Option(
        metavar="gpu-hours|none",
        help="Queues of the trace with quotas by their GPU hours, or no queues; those "
        "of the cluster if not said, gpu-hours where it has none.",
    ),
]
PolicyFile = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="FILE",
        help="A file that holds a policy: a scenario, whose `given` may be {}, or the "
        "settings of `phalanx run`.",
    ),
]
Every = Annotated[
    str,
    typer.Option(
        "--every", metavar="TIME", help="Time between rounds; 0: one at each event."
    ),
]
Estimates = Annotated[
    str | None,
    typer.Option(
        "--estimates",
        metavar="FACTOR|drawn",
        help="Run times are known: the estimates of the trace, else FACTOR × duration, "
        "or as wrong as users are.",
    ),
]
Evictions = Annotated[
    bool,
    typer.Option(
        "--evictions",
        help="Let running work be evicted, within the shipped bounds where the policy "
        "says none; it starts anew.",
    ),
]
Saves = Annotated[
    str | None,
    typer.Option(
        "--saves",
        metavar="TIME",
        help="With --evictions: work saves itself so often, and goes on from there.",
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until", metavar="TIME", help="Stop after so long; all jobs end if not said."
    ),
]
_QUOTAS = (None, "gpu-hours", "none")


def trace_and_floor(
    path: str, form: str | None, cluster: str, quotas: str | None
) -> "tuple[Trace, Floor]":
    """
    Read a trace and its cluster, leave out what can never start there, and say so.
    """
    from adapters.traces import floor_of, read_trace
    from adapters.traces.clusters import with_queues
    from adapters.traces.counted_parts import counting_parts
    from adapters.traces.fitting import fitted

    known_quotas(quotas)
    trace = read_trace(path, form)
    floor = with_queues(trace, floor_of(cluster), quotas)
    if not floor.queues and len({job.queue for job in trace.jobs}) > 1:
        note(
            "note: no queue has a quota, so all queues of the trace are planned as one"
        )
    for text in trace.notes:
        note(f"note: {text}")
    trace, floor = counting_parts(trace, floor)
    jobs = fitted(trace, floor)
    say_what_was_done(jobs)
    return jobs, floor


def known_quotas(word: str | None) -> str | None:
    """
    Give the way to make queues, if there is such a one.
    """
    if word not in _QUOTAS:
        raise typer.BadParameter(f"--quotas {word!r} is not gpu-hours or none")
    return word


def known_times(text: str | None) -> "KnownTimes":
    """
    Read how run times are known.
    """
    from adapters.replay.estimates import LEAST, MOST, estimates_of

    try:
        return estimates_of(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"--estimates {text!r} is not drawn, or from {LEAST:g} to {MOST:g}"
        ) from error


def judged(names: Sequence[str], estimates: "KnownTimes") -> list[str]:
    """
    Give the names of strategies, each once, the one to compare with first.
    """
    from adapters.replay.players import STRATEGIES

    for name in names:
        if name not in STRATEGIES:
            known = ", ".join(STRATEGIES)
            raise typer.BadParameter(f"--strategy {name!r} is none of {known}")
        if STRATEGIES[name].needs_estimates and estimates is None:
            raise typer.BadParameter(
                f"--strategy {name} needs to know how long jobs run: add --estimates 1"
            )
    return sorted(dict.fromkeys(names), key=lambda name: name == "solver")


def moment(text: str, option: str) -> int:
    """
    Read a time such as 5m or 300.
    """
    from models.errors import QuantityError
    from models.resources import parse_duration

    try:
        return parse_duration(text)
    except QuantityError as error:
        raise typer.BadParameter(f"{option} {text!r}: {error}") from error


def moment_if_said(text: str | None, option: str) -> int | None:
    """
    Read a time that need not be said.
    """
    return None if text is None else moment(text, option)


def saves_every(text: str | None, *, evictions: bool) -> int | None:
    """
    Read how often work saves itself, which only matters where it can be evicted.
    """
    saves = moment_if_said(text, "--saves")
    if saves is None:
        return None
    if saves == 0:
        raise typer.BadParameter(
            f"--saves {text!r} is no time between two saves; without --saves work "
            "never saves itself"
        )
    if not evictions:
        raise typer.BadParameter(
            "--saves says what evicted work keeps, and nothing is evicted: add "
            "--evictions"
        )
    return saves


def played_policy(path: str | None, *, evictions: bool) -> "Policy":
    """
    Read the policy of a replay: what leaves is bounded as shipped, if nobody says how.

    Without bounds much work is done twice for little (decision 0074).
    """
    from adapters.service.shipped import bounded_as_shipped

    settings = settings_from(path, {})
    return bounded_as_shipped(settings) if evictions else settings.policy


def policy_from(path: str | None, flags: "Flags") -> "Policy":
    """
    Read the policy of a file, with environment and flags laid over it.
    """
    return settings_from(path, flags).policy


def settings_from(path: str | None, flags: "Flags") -> "Settings":
    """
    Read the policy of a file, with environment and flags laid over it, and who said it.

    It is a scenario, or the settings of ``phalanx run``; one without a policy of its
    own is warned about.
    """
    from adapters.service.settings import effective
    from models.policy import Policy

    policy = Policy() if path is None else _policy_of(path)
    if path is not None and policy == Policy():
        note(f"warning: {path} has no policy of its own; the default policy applies")
    return effective(policy, flags)


def _policy_of(path: str) -> "Policy":
    from adapters.files import read_scenario
    from adapters.service.run_settings import is_config, read_config

    if is_config(path):
        return read_config(path).policy
    return read_scenario(path).policy


def say_what_was_done(trace: "Trace | Tally") -> None:
    """
    Tell which rows were repaired and which were left out.
    """
    from adapters.traces.fitting import RULES
    from adapters.traces.row_faults import OMISSIONS, REPAIRS

    for rule, count in trace.repaired.items():
        note(f"repaired: {counted(count, 'row')}: {REPAIRS[rule]}")
    for rule, count in trace.left_out.items():
        why = OMISSIONS.get(rule) or RULES[rule]
        noun = "job" if rule in RULES else "row"
        note(f"left out: {counted(count, noun)}: {why}")
