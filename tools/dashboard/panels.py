"""
The panels, row by row: each answers one question of who watches over the scheduler.

A query names a metric as it is exported; ``{}`` stands for the scheduler that was
chosen, and ``LEADER`` keeps what the leader says: an older leader's gauges stand still.
"""

from dataclasses import dataclass, field

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
    width: int = 8
    stacked: bool = False
    steps: tuple[tuple[float, str], ...] = ()
    words: dict[str, str] = field(default_factory=dict)
    names: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """
    Panels under one heading.
    """

    title: str
    height: int
    panels: tuple[Panel, ...]


def _since(metric: str, *, by: str = "") -> str:
    grouped = f"sum by ({by}) " if by else "sum"
    return f"{grouped}(increase({metric}{{}}[24h]))"


def _rate(metric: str, by: str) -> str:
    return f"sum by ({by}) (rate({metric}{{}}{WINDOW}))"


def _newest(metric: str, by: str) -> str:
    return f"sum by ({by}) ({metric}{{}}{LEADER})"


def _quantile(part: float, metric: str, by: str) -> Query:
    rate = f"sum by (le, {by}) (rate({metric}_bucket{{}}{WINDOW}))"
    return Query(
        f"histogram_quantile({part}, {rate})", f"{{{{{by}}}}} p{round(part * 100)}"
    )


ALARM = ((0.0, "green"), (1.0, "red"))
WARNING = ((0.0, "green"), (1.0, "orange"))

HEALTH = Row(
    "Is it well?",
    4,
    (
        Panel(
            title="Leader",
            about="Exactly one replica leads. Where nobody does, no gang starts.",
            queries=(Query("sum(phalanx_leader{})"),),
            kind="stat",
            width=3,
            steps=((0.0, "red"), (1.0, "green"), (2.0, "red")),
            words={"0": "nobody", "1": "one leads", "2": "two lead"},
        ),
        Panel(
            title="Last look",
            about=(
                "How long ago the loop looked last; a quiet cluster is looked at too."
            ),
            queries=(Query("time() - max(phalanx_loop_tick_timestamp_seconds{})"),),
            kind="stat",
            unit="s",
            width=3,
            steps=((0.0, "green"), (60.0, "orange"), (120.0, "red")),
        ),
        Panel(
            title="Longest wait",
            about="The age of the oldest gang that waits.",
            queries=(Query(f"max(phalanx_longest_wait_seconds{{}}{LEADER})"),),
            kind="stat",
            unit="s",
            width=3,
        ),
        Panel(
            title="Plans rejected, 24 h",
            about=(
                "Plans that broke a rule and were thrown away. Each is a bug: "
                "the log names the bundle to report."
            ),
            queries=(Query(_since("phalanx_plans_rejected_total")),),
            kind="stat",
            width=3,
            steps=ALARM,
        ),
        Panel(
            title="Rounds failed, 24 h",
            about="Rounds that ended in an error that nobody expected; the log has it.",
            queries=(
                Query('sum(increase(phalanx_rounds_total{outcome="failed"}[24h]))'),
            ),
            kind="stat",
            width=3,
            steps=ALARM,
        ),
        Panel(
            title="Threads restarted, 24 h",
            about=(
                "Threads that ended by mistake and were begun again; the log has why."
            ),
            queries=(Query(_since("phalanx_thread_restarts_total")),),
            kind="stat",
            width=3,
            steps=ALARM,
        ),
        Panel(
            title="Objects not read",
            about="Objects that cannot be read now; the log names them.",
            queries=(Query("sum(max by (resource) (phalanx_objects_unread{}))"),),
            kind="stat",
            width=3,
            steps=WARNING,
        ),
        Panel(
            title="Version",
            about="Of Phalanx and of OR-Tools.",
            queries=(
                Query(
                    "count by (version, ortools) (phalanx_build_info{})",
                    "{{version}} (OR-Tools {{ortools}})",
                ),
            ),
            kind="stat",
            width=3,
            names=True,
        ),
    ),
)

CLUSTER = Row(
    "What runs and what waits",
    9,
    (
        Panel(
            title="Gangs by state",
            about="In the newest plan.",
            queries=(Query(_newest("phalanx_gangs", "state"), "{{state}}"),),
            stacked=True,
        ),
        Panel(
            title="Why gangs wait",
            about=(
                "Gangs that wait, by reason; docs/concepts.md explains each. "
                "`phalanx describe gang` tells the numbers of one."
            ),
            queries=(Query(_newest("phalanx_gangs_waiting", "reason"), "{{reason}}"),),
            stacked=True,
        ),
        Panel(
            title="GPUs",
            about=(
                "GPUs of the nodes that are planned, those that are free, and "
                "of these the ones that idle since they are held for a gang "
                "passed over for long."
            ),
            queries=(
                Query(_newest("phalanx_gpus", "state"), "{{state}}"),
                Query(f"sum(phalanx_held_gpus{{}}{LEADER})", "held"),
            ),
        ),
    ),
)

ROUNDS = Row(
    "Rounds",
    9,
    (
        Panel(
            title="Rounds by outcome",
            about=(
                "A round in which nothing had changed is skipped; refused means"
                " that there was no snapshot."
            ),
            queries=(Query(_rate("phalanx_rounds_total", "outcome"), "{{outcome}}"),),
            unit="ops",
        ),
        Panel(
            title="Time of a round, by phase",
            about=(
                "99 of 100 rounds take at most this long. The search is bounded"
                " by limits.seconds of the policy."
            ),
            queries=(_quantile(0.99, "phalanx_round_phase_seconds", "phase"),),
            unit="s",
        ),
        Panel(
            title="Rounds planned again",
            about=(
                "A plan broke a rule, or planning failed, so the round was "
                "planned without evictions or by greedy."
            ),
            queries=(
                Query(
                    "sum by (way, cause) "
                    "(increase(phalanx_rounds_fell_back_total{}[1h]))",
                    "{{way}}, {{cause}}",
                ),
            ),
        ),
        Panel(
            title="What may be missing to the best plan",
            about=(
                "The gap of each tier in the newest plan: the distance of its "
                "value to its bound, as a part of the larger."
            ),
            queries=(Query(_newest("phalanx_tier_gap_ratio", "tier"), "{{tier}}"),),
            unit="percentunit",
            width=12,
        ),
        Panel(
            title="Rounds whose tier is proven best",
            about=(
                "The part of the time in which the value of a tier was proven: "
                "no plan is better there."
            ),
            queries=(
                Query(
                    "avg by (tier) "
                    f"(avg_over_time(phalanx_tier_proven{{}}[1h]){LEADER})",
                    "{{tier}}",
                ),
            ),
            unit="percentunit",
            width=12,
        ),
    ),
)

ACTING = Row(
    "What it does",
    9,
    (
        Panel(
            title="Binds",
            about=(
                "Pods a second, by result. Skipped ones alone mean that the "
                "intent cannot be stored: nothing starts."
            ),
            queries=(Query(_rate("phalanx_binds_total", "result"), "{{result}}"),),
            unit="ops",
            width=6,
        ),
        Panel(
            title="Evictions and moves",
            about=(
                "Pods in an hour, by rule and result; each is one line of the "
                "log, with the gangs that it makes room for."
            ),
            queries=(
                Query(
                    "sum by (rule, result) (increase(phalanx_evictions_total{}[1h]))",
                    "{{rule}}, {{result}}",
                ),
            ),
            width=6,
        ),
        Panel(
            title="Time of one bind or eviction",
            about="At the API server: the median, and what 99 of 100 stay below.",
            queries=(
                _quantile(0.5, "phalanx_operation_seconds", "op"),
                _quantile(0.99, "phalanx_operation_seconds", "op"),
            ),
            unit="s",
            width=6,
        ),
        Panel(
            title="What is said of gangs and pods",
            about=(
                "Requests a second that write conditions, group status and "
                "events. Forbidden ones mean that the role lacks a rule."
            ),
            queries=(
                Query(
                    _rate("phalanx_status_writes_total", "about, outcome"),
                    "{{about}}, {{outcome}}",
                ),
            ),
            unit="ops",
            width=6,
        ),
    ),
)

READING = Row(
    "What it reads, keeps and takes",
    8,
    (
        Panel(
            title="How old is what it knows",
            about=(
                "Seconds since a kind was known to be up to date. A quiet kind "
                "is asked about once a minute; above 180 s no round is planned."
            ),
            queries=(
                Query(
                    "max by (resource) (phalanx_source_staleness_seconds{})",
                    "{{resource}}",
                ),
            ),
            unit="s",
            width=6,
        ),
        Panel(
            title="Kinds not read yet",
            about="No round is planned until all are.",
            queries=(Query("sum(1 - phalanx_source_synced{})", "not read"),),
            width=6,
        ),
        Panel(
            title="What is remembered",
            about=(
                "Bytes of the intent and of what is known of gangs, over all "
                "its ConfigMaps."
            ),
            queries=(Query("max(phalanx_intent_bytes{})", "bytes"),),
            unit="bytes",
            width=6,
        ),
        Panel(
            title="Gangs not remembered",
            about="Gangs of which nothing survives a restart, since there is no room.",
            queries=(Query("max(phalanx_intent_left_out{})", "gangs"),),
            width=6,
        ),
        Panel(
            title="GPU time held and borrowed",
            about="For gangs passed over, in a waiting.window; beyond quotas, fading.",
            queries=(
                Query(f"sum(phalanx_held_gpu_seconds{{}}{LEADER})", "held"),
                Query(QUEUE_SECONDS, "{{queue}}"),
            ),
            unit="s",
            width=6,
        ),
        Panel(
            title="Changes of leadership",
            about="In an hour. Many mean that the Lease cannot be renewed in time.",
            queries=(
                Query(
                    "sum(increase(phalanx_leadership_changes_total{}[1h]))", "changes"
                ),
            ),
            width=6,
        ),
        Panel(
            title="Memory",
            about="Of each replica.",
            queries=(Query("process_resident_memory_bytes{}", "{{pod}}"),),
            unit="bytes",
            width=6,
        ),
        Panel(
            title="CPU",
            about="Cores that each replica takes.",
            queries=(Query(f"rate(process_cpu_seconds_total{{}}{WINDOW})", "{{pod}}"),),
            width=6,
        ),
    ),
)

ROWS = (HEALTH, CLUSTER, ROUNDS, ACTING, READING)
