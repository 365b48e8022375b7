"""
The panels, row by row: each answers one question of who watches over the scheduler.

A query names a metric as it is exported; ``{}`` stands for the scheduler that was
chosen, and ``LEADER`` keeps what the leader says: an older leader's gauges stand still.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Steps = tuple[tuple[float, str], ...]
LEADER = " and on (instance) (phalanx_leader{} == 1)"
WINDOW = "[$__rate_interval]"
QUEUE_SECONDS = f"3600 * max by (queue) (phalanx_queue_gpu_hours{{}}{LEADER})"


@dataclass(frozen=True, slots=True)
class Query:
    """
    One query and what its lines are called.
    """

    expr: str
    legend: str = "__auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """
    One panel: its question, its kind, its size in columns of 24, and its queries.

    ``steps`` are colours from a value on; ``words`` stand for values in their place.
    """

    title: str
    about: str
    queries: tuple[Query, ...]
    kind: str = "timeseries"
    unit: str = "short"
    width: int | None = None
    stacked: bool = False
    steps: Steps = ()
    words: Mapping[str, str] = field(default_factory=dict)
    names: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """
    Panels under one heading, each of the same size where it has no width of its own.
    """

    title: str
    height: int
    width: int
    panels: tuple[Panel, ...]


def _since(metric: str) -> Query:
    return Query(f"sum(increase({metric}{{}}[24h]))")


def _hourly(metric: str, by: str) -> Query:
    return Query(f"sum by ({by}) (increase({metric}{{}}[1h]))", _named(by))


def _rate(metric: str, by: str) -> Query:
    return Query(f"sum by ({by}) (rate({metric}{{}}{WINDOW}))", _named(by))


def _newest(metric: str, by: str) -> Query:
    return Query(f"sum by ({by}) ({metric}{{}}{LEADER})", _named(by))


def _quantile(part: float, metric: str, by: str) -> Query:
    rate = f"sum by (le, {by}) (rate({metric}_bucket{{}}{WINDOW}))"
    name = f"{_named(by)} p{round(part * 100)}"
    return Query(f"histogram_quantile({part}, {rate})", name)


def _named(by: str) -> str:
    return ", ".join(f"{{{{{label}}}}}" for label in by.split(", "))


def _number(  # noqa: PLR0913 - what sets one number apart from the next
    title: str,
    about: str,
    query: str | Query,
    steps: Steps = (),
    *,
    unit: str = "short",
    words: Mapping[str, str] | None = None,
    names: bool = False,
) -> Panel:
    """
    Make a panel of one number as it is now.
    """
    return Panel(
        title=title,
        about=about,
        queries=(query if isinstance(query, Query) else Query(query),),
        kind="stat",
        unit=unit,
        steps=steps,
        words=words or {},
        names=names,
    )


def _graph(
    title: str,
    about: str,
    *queries: Query,
    unit: str = "short",
    stacked: bool = False,
    width: int | None = None,
) -> Panel:
    """
    Make a panel of lines over time.
    """
    return Panel(
        title=title,
        about=about,
        queries=queries,
        unit=unit,
        stacked=stacked,
        width=width,
    )


ALARM = ((0.0, "green"), (1.0, "red"))
WARNING = ((0.0, "green"), (1.0, "orange"))

HEALTH = Row(
    "Is it well?",
    4,
    3,
    (
        _number(
            "Leader",
            "Exactly one replica leads. Where nobody does, no gang starts.",
            "sum(phalanx_leader{})",
            ((0.0, "red"), (1.0, "green"), (2.0, "red")),
            words={"0": "nobody", "1": "one leads", "2": "two lead"},
        ),
        _number(
            "Last look",
            "How long ago the loop looked last; a quiet cluster is looked at too.",
            "time() - max(phalanx_loop_tick_timestamp_seconds{})",
            ((0.0, "green"), (60.0, "orange"), (120.0, "red")),
            unit="s",
        ),
        _number(
            "Longest wait",
            "The age of the oldest gang that waits.",
            f"max(phalanx_longest_wait_seconds{{}}{LEADER})",
            unit="s",
        ),
        _number(
            "Plans rejected, 24 h",
            (
                "Plans that broke a rule and were thrown away. Each is a bug: "
                "the log names the bundle to report."
            ),
            _since("phalanx_plans_rejected_total"),
            ALARM,
        ),
        _number(
            "Rounds failed, 24 h",
            "Rounds that ended in an error that nobody expected; the log has it.",
            'sum(increase(phalanx_rounds_total{outcome="failed"}[24h]))',
            ALARM,
        ),
        _number(
            "Threads restarted, 24 h",
            "Threads that ended by mistake and were begun again; the log has why.",
            _since("phalanx_thread_restarts_total"),
            ALARM,
        ),
        _number(
            "Objects not read",
            "Objects that cannot be read now; the log names them.",
            "sum(max by (resource) (phalanx_objects_unread{}))",
            WARNING,
        ),
        _number(
            "Version",
            "Of Phalanx and of OR-Tools.",
            Query(
                "count by (version, ortools) (phalanx_build_info{})",
                "{{version}} (OR-Tools {{ortools}})",
            ),
            names=True,
        ),
    ),
)

CLUSTER = Row(
    "What runs and what waits",
    9,
    8,
    (
        _graph(
            "Gangs by state",
            "In the newest plan.",
            _newest("phalanx_gangs", "state"),
            stacked=True,
        ),
        _graph(
            "Why gangs wait",
            (
                "Gangs that wait, by reason; docs/concepts.md explains each. "
                "`phalanx describe gang` tells the numbers of one."
            ),
            _newest("phalanx_gangs_waiting", "reason"),
            stacked=True,
        ),
        _graph(
            "GPUs",
            (
                "GPUs of the nodes that are planned, those that are free, and "
                "of these the ones that idle since they are held for a gang "
                "passed over for long."
            ),
            _newest("phalanx_gpus", "state"),
            Query(f"sum(phalanx_held_gpus{{}}{LEADER})", "held"),
        ),
    ),
)

ROUNDS = Row(
    "Rounds",
    9,
    8,
    (
        _graph(
            "Rounds by outcome",
            (
                "A round in which nothing had changed is skipped; refused means"
                " that there was no snapshot."
            ),
            _rate("phalanx_rounds_total", "outcome"),
            unit="ops",
        ),
        _graph(
            "Time of a round, by phase",
            (
                "99 of 100 rounds take at most this long. The search is bounded"
                " by limits.seconds of the policy."
            ),
            _quantile(0.99, "phalanx_round_phase_seconds", "phase"),
            unit="s",
        ),
        _graph(
            "Rounds planned again",
            (
                "A plan broke a rule, or planning failed, so the round was "
                "planned without evictions or by greedy."
            ),
            _hourly("phalanx_rounds_fell_back_total", "way, cause"),
        ),
        _graph(
            "What may be missing to the best plan",
            (
                "The gap of each tier in the newest plan: the distance of its "
                "value to its bound, as a part of the larger."
            ),
            _newest("phalanx_tier_gap_ratio", "tier"),
            unit="percentunit",
            width=12,
        ),
        _graph(
            "Rounds whose tier is proven best",
            (
                "The part of the time in which the value of a tier was proven: "
                "no plan is better there."
            ),
            Query(
                f"avg by (tier) (avg_over_time(phalanx_tier_proven{{}}[1h]){LEADER})",
                "{{tier}}",
            ),
            unit="percentunit",
            width=12,
        ),
    ),
)

ACTING = Row(
    "What it does",
    9,
    6,
    (
        _graph(
            "Binds",
            (
                "Pods a second, by result. Skipped ones alone mean that the "
                "intent cannot be stored: nothing starts."
            ),
            _rate("phalanx_binds_total", "result"),
            unit="ops",
        ),
        _graph(
            "Evictions and moves",
            (
                "Pods in an hour, by rule and result; each is one line of the "
                "log, with the gangs that it makes room for."
            ),
            _hourly("phalanx_evictions_total", "rule, result"),
        ),
        _graph(
            "Time of one bind or eviction",
            "At the API server: the median, and what 99 of 100 stay below.",
            _quantile(0.5, "phalanx_operation_seconds", "op"),
            _quantile(0.99, "phalanx_operation_seconds", "op"),
            unit="s",
        ),
        _graph(
            "What is said of gangs and pods",
            (
                "Requests a second that write conditions, group status and "
                "events. Forbidden ones mean that the role lacks a rule."
            ),
            _rate("phalanx_status_writes_total", "about, outcome"),
            unit="ops",
        ),
    ),
)

READING = Row(
    "What it reads, keeps and takes",
    8,
    6,
    (
        _graph(
            "How old is what it knows",
            (
                "Seconds since a kind was known to be up to date. A quiet kind "
                "is asked about once a minute; above 180 s no round is planned."
            ),
            Query(
                "max by (resource) (phalanx_source_staleness_seconds{})",
                "{{resource}}",
            ),
            unit="s",
        ),
        _graph(
            "Kinds not read yet",
            "No round is planned until all are.",
            Query("sum(1 - phalanx_source_synced{})", "not read"),
        ),
        _graph(
            "What is remembered",
            (
                "Bytes of the intent and of what is known of gangs, over all "
                "its ConfigMaps."
            ),
            Query("max(phalanx_intent_bytes{})", "bytes"),
            unit="bytes",
        ),
        _graph(
            "Gangs not remembered",
            "Gangs of which nothing survives a restart, since there is no room.",
            Query("max(phalanx_intent_left_out{})", "gangs"),
        ),
        _graph(
            "GPU time held and borrowed",
            "For gangs passed over, in a waiting.window; beyond quotas, fading.",
            Query(f"sum(phalanx_held_gpu_seconds{{}}{LEADER})", "held"),
            Query(QUEUE_SECONDS, "{{queue}}"),
            unit="s",
        ),
        _graph(
            "Changes of leadership",
            "In an hour. Many mean that the Lease cannot be renewed in time.",
            Query("sum(increase(phalanx_leadership_changes_total{}[1h]))", "changes"),
        ),
        _graph(
            "Memory",
            "Of each replica.",
            Query("process_resident_memory_bytes{}", "{{pod}}"),
            unit="bytes",
        ),
        _graph(
            "CPU",
            "Cores that each replica takes.",
            Query(f"rate(process_cpu_seconds_total{{}}{WINDOW})", "{{pod}}"),
        ),
    ),
)

ROWS = (HEALTH, CLUSTER, ROUNDS, ACTING, READING)
