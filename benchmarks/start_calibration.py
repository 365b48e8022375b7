"""
Calibration of starts: how often gangs had started by when a forecast said they would.

A trace is played by greedy; some of the gangs that wait after a round are asked about
once.  What they were told is held against when they started: by run times alone, and
with a factor that each answer that came true or not has made smaller or larger.  Run as
``python -m benchmarks.start_calibration TRACE CLUSTER DAYS``.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from pathlib import Path
from tempfile import TemporaryDirectory

from adapters.machine.clock import monotonic
from adapters.replay.engine import Engine
from adapters.replay.job_state import Fate
from adapters.replay.players import STRATEGIES, planner_of, policy_of
from adapters.replay.recorder import Recorder
from adapters.replay.window import oldest
from adapters.replay.world import Rules, World
from adapters.traces.clusters import floor_of, with_queues
from adapters.traces.read import read_trace
from benchmarks.likely_start import LikelyStart, likely_start
from models.policy import Policy
from models.trace import Trace
from solver.problem.problem import problem_of
from solver.why.given_to_others import GivenToOthers

DAY = 86400
EVERY = 300
WARM = 3 * DAY
"""
Seconds in which the record is only filled.
"""
GAP = 1800
"""
Seconds between two moments at which gangs are asked about.
"""
ASKED = 3
PERCENTS = (50, 80, 95)
SIZES = (("1 GPU", 1, 1), ("2 to 7", 2, 7), ("8 and more", 8, 10**6))
STEP = 1.0
"""
By how much a factor's logarithm changes at most with each gang that has started.
"""
LONG = 3 * DAY
"""
Seconds in place of a median where most plays have no start.
"""


@dataclass(slots=True)
class Asked:
    """
    What a gang was told, when, and of how many GPUs it is.
    """

    at: int
    said: LikelyStart | None
    gpus: int
    waited: int


@dataclass(slots=True)
class Asker:
    """
    Asks about some of the gangs that wait, each once.
    """

    asked: dict[int, Asked] = field(default_factory=dict)
    last: int = 0

    def __call__(self, engine: Engine) -> None:
        """
        Ask after a round.
        """
        world = engine.world
        if world.now < max(WARM, self.last + GAP) or not world.line.count:
            return
        self.last = world.now
        shown, world.shown = world.shown, oldest(world.line)
        by_key = world._by_key  # noqa: SLF001 - a snapshot is taken for us only
        snapshot = world.snapshot()
        chosen = [at for at in _spread(world.shown) if at not in self.asked]
        world.shown, world._by_key = shown, by_key  # noqa: SLF001
        problem = problem_of(replace(snapshot, also_waiting=()), world.policy)
        names = {world.fates[at].job.name: at for at in chosen[:ASKED]}
        for unit in problem.units:
            at = names.get(unit.states[0].gang.name)
            if at is None:
                continue
            job = world.fates[at].job
            said = likely_start(problem, unit, GivenToOthers(()), frozenset())
            waited = world.now - job.submit
            self.asked[at] = Asked(world.now, said, job.gpus, waited)


def _spread(line: Sequence[int]) -> list[int]:
    """
    Order a line by a hash of its numbers, so that asking is not first come.
    """
    return sorted(line, key=lambda at: (at * 2654435761) % 2**32)


def asked_of(trace: Trace, cluster: str, days: int) -> list[tuple[Asked, int]]:
    """
    Play some days of a trace and give what was told, with when they started.
    """
    floor = with_queues(trace, floor_of(cluster), "gpu-hours")
    jobs = [x for x in trace.jobs if x.submit < days * DAY]
    strategy = STRATEGIES["greedy"]
    rules = Rules(every=EVERY, estimates=True)
    policy = policy_of(strategy, Policy(), evictions=False)
    asker = Asker()
    started: dict[int, int] = {}
    with TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder))
        recorder.open(None)

        def ended(fate: Fate, now: int) -> None:
            started[fate.idx] = fate.first
            recorder.ended(fate, now)

        world = World(
            [replace(j, estimate=None) for j in jobs], floor, policy, rules, ended
        )
        world.meter.horizon = days * DAY
        planner = planner_of(strategy, monotonic, timed=False)
        engine = Engine(world.jobs, world, planner, recorder)
        engine.run(2 * days * DAY, asker)
        for at, fate in world.fates.items():
            if fate.first >= 0:
                started[at] = fate.first
        recorder.close()
    return [(one, started[at]) for at, one in asker.asked.items() if at in started]


def table(found: Sequence[tuple[Asked, int]]) -> Iterator[str]:
    """
    Say of how many what was told came true.
    """
    told = [(one, at) for one, at in found if one.said is not None]
    factored = {percent: corrected(told, percent) for percent in PERCENTS}
    for name, least, most in (("all", 0, 10**6), *SIZES):
        rows = [n for n, (one, _) in enumerate(told) if least <= one.gpus <= most]
        for word, right in (("run times", _bare(told)), ("corrected", factored)):
            parts = [
                f"{percent} %: {100 * _part(rows, right[percent]):5.1f}"
                for percent in PERCENTS
            ]
            yield f"{name:12} {word:10} {len(rows):5}  {'  '.join(parts)}"


def _part(rows: Sequence[int], right: Sequence[bool]) -> float:
    return sum(right[n] for n in rows) / max(1, len(rows))


def _bare(told: Sequence[tuple[Asked, int]]) -> dict[int, list[bool]]:
    words = dict(zip(PERCENTS, ("half", "most", "nearly"), strict=True))
    return {
        percent: [
            (by := getattr(one.said, word)) is None or at - one.at <= by
            for one, at in told
        ]
        for percent, word in words.items()
    }


def corrected(told: Sequence[tuple[Asked, int]], percent: int) -> list[bool]:
    """
    Say who had started by the median times a factor that is learnt as time goes.

    Once a gang has started, or should have, the factor falls by ``STEP`` times what
    was not to be covered, or grows by ``STEP`` times what was.
    """
    logarithm, right, open_ones = 0.0, [False] * len(told), list[tuple[float, bool]]()
    for n in sorted(range(len(told)), key=lambda n: told[n][0].at):
        one, at = told[n]
        for _, covered in sorted(x for x in open_ones if x[0] <= one.at):
            logarithm += STEP * (percent / 100 - covered)
        open_ones = [x for x in open_ones if x[0] > one.at]
        median = one.said.half if one.said and one.said.half is not None else LONG
        by = exp(logarithm) * (median + EVERY)
        right[n] = at - one.at + EVERY <= by
        open_ones.append((min(at, one.at + by), right[n]))
    return right


def main(words: list[str]) -> None:
    """
    Print the table of a trace.
    """
    path, cluster, days = words
    for line in table(asked_of(read_trace(path), cluster, int(days))):
        print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
