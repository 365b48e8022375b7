"""
Playing: one strategy and one seed, from the beginning or from a checkpoint.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adapters.machine.clock import monotonic
from adapters.replay.checkpoint import NAME, found, keep, restore
from adapters.replay.drawn_traces import drawn
from adapters.replay.engine import Engine
from adapters.replay.estimates import Estimates, with_estimates
from adapters.replay.measures.lower_bounds import bounds_of
from adapters.replay.measures.replay_measures import metrics_of
from adapters.replay.players import STRATEGIES, planner_of, policy_of
from adapters.replay.recorder import Recorder
from adapters.replay.single_pods import PieceWorld, pieces_of
from adapters.replay.world.job_state import Fate
from adapters.replay.world.world import Rules, World
from models.policy import Policy
from models.snapshot import Snapshot, content_hash
from models.trace import Floor, Job, Trace
from solver import VERSION

SUMMARY = "summary.json"
BLOCK = 7 * 86400
"""
Seconds of what is drawn from a trace as a whole.
"""
BEATS = 20.0
"""
Seconds between two checkpoints.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """
    What is played: a trace on a cluster under a policy, by one strategy.

    ``until`` is the last second that is played; without it, until all has ended.
    """

    trace: Trace
    floor: Floor
    policy: Policy
    strategy: str
    seed: int = 0
    every: int = 300
    evictions: bool = False
    saves: int | None = None
    estimates: Estimates = None
    bucket: int = 3600
    block: int = BLOCK
    until: int | None = None

    @property
    def folder(self) -> str:
        """
        Name where its results go, below those of the comparison.
        """
        return f"runs/{self.strategy}/seed-{self.seed}"

    @property
    def key(self) -> str:
        """
        Hash everything that the results depend on.
        """
        floor = Snapshot(
            nodes=self.floor.nodes,
            queues=self.floor.queues,
            topologies=self.floor.topologies,
        )
        said = {
            "trace": self.trace.digest,
            "form": self.trace.form,
            "floor": content_hash(floor),
            "policy": self.policy.model_dump(mode="json", by_alias=True),
            "version": VERSION,
            "rest": [
                *(self.strategy, self.seed, self.every, self.evictions, self.saves),
                *(self.estimates, self.bucket, self.block, self.until),
            ],
        }
        text = json.dumps(said, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


Tell = Callable[[float], None]
"""
Told which part is played, from 0 to 1.
"""


def play(run: Run, folder: Path, tell: Tell = lambda _: None) -> dict[str, Any]:
    """
    Play a run into a folder, or read its results where it was played before.
    """
    done = summary_of(folder, run.key)
    if done is not None:
        return done
    strategy = STRATEGIES[run.strategy]
    recorder = Recorder(folder)
    engine = _engine(run, recorder)
    state = None if strategy.pieces else found(folder, run.key)
    recorder.open(None if state is None else state["offsets"])
    if state is not None:
        restore(engine, state)
    kept = monotonic()

    def beat(engine: Engine) -> None:
        nonlocal kept
        tell(_part(engine, run.until))
        if monotonic() - kept > BEATS and not strategy.pieces:
            keep(engine, run.key)
            kept = monotonic()

    try:
        engine.run(run.until, beat)
    finally:
        recorder.close()
    summary = {
        "key": run.key,
        "strategy": run.strategy,
        "seed": run.seed,
        "metrics": metrics_of(
            folder, asdict(engine.rounds), engine.world.meter.parts(), run.floor
        ),
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False) + "\n"
    (folder / SUMMARY).write_text(text, encoding="utf-8")
    (folder / NAME).unlink(missing_ok=True)
    return summary


def _part(engine: Engine, until: int | None) -> float:
    """
    Give the part of the jobs that have ended, or that of the time, if it is limited.
    """
    ended = engine.arrived - len(engine.world.fates)
    part = ended / max(1, len(engine.jobs))
    return max(part, min(1.0, engine.world.now / until)) if until else part


def summary_of(folder: Path, key: str) -> dict[str, Any] | None:
    """
    Give what a run found that was played to its end, and was this very one.
    """
    try:
        document: dict[str, Any] = json.loads((folder / SUMMARY).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return document if document.get("key") == key else None


def jobs_of(run: Run) -> tuple[Job, ...]:
    """
    Give the jobs of a run: those of the trace, or drawn from it, with what is known.
    """
    jobs = drawn(run.trace, run.seed, run.block)
    return with_estimates(jobs, run.estimates, run.seed)


def bounds_for(run: Run, metrics: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """
    Bound what any schedule of a run's jobs reaches, as far as that bounds its results.

    Where jobs are left, times are over fewer of them or over less time, and where it
    was played up to a moment the GPU time used is, too.
    """
    jobs = jobs_of(run)
    memory = max((node.gpu_memory for node in run.floor.nodes), default=0)
    known = bounds_of(jobs, run.floor.gpus, run.every, memory, evictions=run.evictions)
    bounds = known.document(run.seed)
    if all(each["jobs"]["done"] == len(jobs) for each in metrics):
        return bounds
    kept = {"seed"} if run.until is not None else {"seed", "used"}
    return {name: x if name in kept else None for name, x in bounds.items()}


def _engine(run: Run, recorder: Recorder) -> Engine:
    strategy = STRATEGIES[run.strategy]
    jobs: Sequence[Job] = jobs_of(run)
    timed = strategy.needs_estimates
    rules = Rules(
        every=run.every,
        evictions=run.evictions and strategy.fair,
        saves=run.saves,
        estimates=run.estimates is not None,
        look=strategy.look,
        timeless=strategy.timeless and not (timed and any(map(_outruns, jobs))),
        bucket=run.bucket,
    )
    policy = policy_of(strategy, run.policy, evictions=run.evictions)
    policy = policy.model_copy(update={"seed": run.policy.seed + run.seed})
    world: World
    if strategy.pieces:
        world, jobs = _pieces(run, jobs, policy, rules, recorder)
    else:
        world = World(jobs, run.floor, policy, rules, recorder.ended)
    last = jobs[-1].submit if jobs else 0
    world.meter.horizon = last if run.until is None else min(last, run.until)
    in_seconds = policy.limits.seconds is not None
    planner = planner_of(strategy, monotonic, timed=in_seconds)
    return Engine(jobs, world, planner, recorder)


def _outruns(job: Job) -> bool:
    """
    Tell whether a job, or an attempt that fails, runs for longer than was said.
    """
    longest = max(job.duration, *job.failures, 0)
    return job.estimate is not None and longest > job.estimate


def _pieces(
    run: Run, jobs: Sequence[Job], policy: Policy, rules: Rules, recorder: Recorder
) -> tuple[World, list[Job]]:
    """
    Make the world of pods that know no gang.
    """
    pieces, owners = pieces_of(jobs)

    def ended(fate: Fate, now: int) -> None:
        whole = world.piece_ended(fate)
        if whole is not None:
            recorder.ended(whole, now)

    world = PieceWorld(
        pieces, run.floor, policy, rules, ended, whole=jobs, owners=owners
    )
    return world, pieces
