"""
Traces of a few days, drawn from what ``scenarios/perf/days.yaml`` says.
"""

from collections.abc import Mapping
from math import ceil, exp
from random import Random

from benchmarks.contract_days import Burst, Days, DayTrace
from models.resources import GPU
from models.trace import Job, Role, Trace

DAY = 86400
MOST_JOBS = 20_000


def trace_of(days: Days, drawn: DayTrace) -> Trace:
    """
    Draw the jobs of one trace, the first at second 0.
    """
    random = Random(drawn.seed)
    moments = sorted(_moment(days.burst, drawn.days, random) for _ in range(MOST_JOBS))
    room = drawn.load * drawn.nodes * days.per_node * drawn.days * DAY
    kinds: list[tuple[int, int, int]] = []
    work = 0
    while work < room:
        gpus = _one_of(days.mixes[drawn.mix], random)
        ran = _run_time(days, gpus, random)
        kinds.append((gpus, ran, random.randrange(max(1, drawn.queues))))
        work += gpus * ran
    chosen = sorted(random.sample(moments, len(kinds)))
    roles = {gpus: _roles(gpus, days.per_node) for gpus, _, _ in kinds}
    jobs = [
        Job(
            name=f"job-{at:05d}",
            submit=submit - chosen[0],
            duration=ran,
            queue=f"team-{queue}" if drawn.queues else "default",
            roles=roles[gpus],
        )
        for at, (submit, (gpus, ran, queue)) in enumerate(
            zip(chosen, kinds, strict=True)
        )
    ]
    return Trace(name=drawn.name, form="own", digest=drawn.name, jobs=tuple(jobs))


def _moment(burst: Burst, days: int, random: Random) -> int:
    """
    Draw when a job comes: more of them while the burst of its day lasts.
    """
    if random.random() < burst.part:
        second = random.random() * burst.lasts
    else:
        second = burst.lasts + random.random() * (DAY - burst.lasts)
    return random.randrange(days) * DAY + int(second)


def _one_of(weights: Mapping[int, float], random: Random) -> int:
    return random.choices([*weights], [*weights.values()])[0]


def _run_time(days: Days, gpus: int, random: Random) -> int:
    median, spread = days.durations[gpus]
    drawn = median * exp(random.gauss(0.0, spread))
    return int(min(max(drawn, days.shortest), days.longest))


def _roles(gpus: int, per_node: int) -> tuple[Role, ...]:
    """
    Give a gang whole nodes where it needs more than one.
    """
    pods = ceil(gpus / per_node)
    return (Role(pods=pods, minimum=pods, requests={GPU: gpus // pods}),)
