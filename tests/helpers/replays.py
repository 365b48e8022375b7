"""
Folders such as a replay writes, made up: every number is drawn from a seed.

They have the documented form, and no more sense than a picture needs.
"""

import csv
import json
import random
from pathlib import Path

DAY, HOUR = 86_400, 3_600
SIZES = (("0", 0, 0), ("1", 1, 1), ("2-7", 2, 7), ("8-15", 8, 15), ("16-63", 16, 63))
LARGE = (("64+", 64, 10**6), ("8+", 8, 10**6))
PARTS = (
    *("used", "lent", "incomplete", "fragmented", "quota"),
    *("held", "freed", "unwanted", "off"),
)
FACTORS = {"greedy": 1.0, "solver": 0.6, "easy": 0.9, "per-pod": 1.7}


def write_replay(
    folder: Path,
    *,
    strategies: tuple[str, ...] = ("greedy", "solver"),
    seeds: tuple[int, ...] = (0,),
    num_jobs: int = 300,
    num_nodes: int = 12,
    days: int = 8,
    num_queues: int = 4,
    **changes,
) -> Path:
    """
    Write a folder of results; ``changes`` replace keys of ``results.json``.
    """
    world = _World(num_jobs, num_nodes, days, num_queues)
    runs, times = [], []
    for strategy in strategies:
        for seed in seeds:
            where = f"runs/{strategy}/seed-{seed}"
            (folder / where).mkdir(parents=True)
            metrics = world.run(folder / where, strategy, seed)
            runs.append(
                {
                    "strategy": strategy,
                    "seed": seed,
                    "folder": where,
                    "metrics": metrics,
                }
            )
            times.append(_times(strategy, seed))
    document = {**world.head(strategies, seeds), "runs": runs, "bounds": []}
    document["paired"] = _paired(runs, strategies)
    document["largest"] = world.largest(strategies)
    document["notModelled"] = [
        "How fast a job runs where it is placed: a job takes as long as in the trace.",
        "Time to pull images, to start containers and to reach the first step.",
    ]
    document |= changes
    (folder / "results.json").write_text(json.dumps(document, indent=1))
    (folder / "timings.json").write_text(json.dumps({"runs": times}))
    return folder


class _World:
    """
    Jobs and nodes that all strategies share.
    """

    def __init__(self, num_jobs, num_nodes, days, num_queues):
        chance = random.Random(7)
        self.nodes, self.days = num_nodes, days
        self.gpus = num_nodes * 8
        self.queues = [f"queue-{at}" for at in range(num_queues)]
        self.jobs = []
        for at in range(num_jobs):
            size = chance.choice((1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 16, 64 if at else 1))
            submit = int(days * DAY * at / max(1, num_jobs))
            queue = chance.choice(self.queues)
            span = int(chance.lognormvariate(7.5, 1.4)) + 1
            self.jobs.append((f"job-{at:05d}", queue, size, submit, span))

    def head(self, strategies, seeds):
        """
        Say what was played.
        """
        return {
            "apiVersion": "phalanx/v1",
            "kind": "Replay",
            "regime": "rounds",
            "trace": {
                "name": "made-up.csv",
                "form": "csv",
                "sha256": "0" * 64,
                "jobs": len(self.jobs),
                "gpuHours": sum(j[2] * j[4] for j in self.jobs) / HOUR,
                "span": self.days * DAY,
                "begins": None,
                "notes": ["Made up for a test."],
                "repaired": {"rows in the wrong order": 3},
                "leftOut": {"jobs without a duration": 1},
            },
            "cluster": {
                "name": f"{self.nodes}x8",
                "nodes": self.nodes,
                "gpus": self.gpus,
                "load": 0.78,
                "classes": [{"nodes": self.nodes, "gpus": 8}],
                "queues": [{"name": q, "quota": 8, "limit": None} for q in self.queues],
            },
            "settings": {
                "every": 300,
                "estimates": "none",
                "evictions": False,
                "bucket": HOUR,
                "until": "drained",
                "policy": {},
            },
            "versions": {"phalanx": "0.1.0", "ortools": "9.15", "python": "3.11"},
            "seeds": list(seeds),
            "strategies": list(strategies),
            "baseline": strategies[0],
        }

    def run(self, where, strategy, seed):
        """
        Write the tables of one run; give its metrics.
        """
        chance = random.Random(f"{strategy}/{seed}")
        factor = FACTORS.get(strategy, 1.2)
        used = [0.0] * (self.days * 24 + 24)
        waits = []
        with (where / "jobs.csv").open("w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(
                [
                    "job",
                    "queue",
                    "priority",
                    "pods",
                    "gpus",
                    "duration",
                    "submit",
                    "start",
                    "end",
                    "wait",
                    "attempts",
                    "failures",
                    "evictions",
                    "lost",
                    "status",
                    "reason",
                    "nodes",
                ]
            )
            for at, (name, queue, size, submit, span) in enumerate(self.jobs):
                crowd = 1 + 5 * (int(submit // DAY) % 3 == 2)
                wait = int(chance.expovariate(1) * 300 * factor * crowd * size**0.6)
                start, end = submit + wait, submit + wait + span
                waits.append((size, wait))
                first = (at * 5 + seed) % self.nodes
                spread = min(self.nodes, -(-size // 8))
                nodes = " ".join(
                    f"n{(first + k) % self.nodes + 1:02d}*{min(8, size)}"
                    for k in range(spread)
                )
                for hour in range(start // HOUR, min(len(used), end // HOUR + 1)):
                    used[hour] += size
                row = (name, queue, 0, spread, size, span, submit, start, end, wait)
                out.writerow((*row, 1, 0, 0, 0, "done", "InsufficientCapacity", nodes))
        self._series(where, [min(each, self.gpus) for each in used], factor)
        return _metrics(waits, used, self.gpus)

    def _series(self, where, used, factor):
        with (
            (where / "series.csv").open("w", newline="") as series,
            (where / "queues.csv").open("w", newline="") as queues,
        ):
            out = csv.writer(series, lineterminator="\n")
            out.writerow(("t", *PARTS, "waiting", "waitingGpus", "running"))
            per_queue = csv.writer(queues, lineterminator="\n")
            per_queue.writerow(("t", "queue", "used", "share", "waiting"))
            for hour, busy in enumerate(used):
                idle = self.gpus - busy
                crowded = hour // 24 % 3 == 2
                frag = idle * (0.6 if crowded else 0.2) * min(1, factor)
                quota = idle * 0.15
                rest = idle - frag - quota
                wait = int(40 * factor * (6 if crowded else 1))
                row = (hour * HOUR, busy, busy * 0.1, 0, frag, quota)
                row += (rest * 0.04, rest * 0.06, rest * 0.9, 0)
                out.writerow((*row, wait // 4, wait, int(busy)))
                for at, queue in enumerate(self.queues):
                    part = busy * (at + 1) / sum(range(1, len(self.queues) + 1))
                    share = self.gpus / len(self.queues)
                    per_queue.writerow((hour * HOUR, queue, part, share, at))

    def largest(self, strategies):
        """
        Name ten jobs for each strategy but the baseline.
        """
        return [
            {
                "strategy": strategy,
                "job": job[0],
                "queue": job[1],
                "gpus": job[2],
                "baselineWait": 40_000 - 3_000 * at,
                "wait": 9_000 + 5_000 * at,
                "baselineReason": "Fragmented",
                "reason": "BehindOlder" if at % 2 else None,
            }
            for strategy in strategies[1:]
            for at, job in enumerate(self.jobs[:10])
        ]


def _quantile(values, part):
    return values[min(len(values) - 1, int(part * len(values)))]


def _metrics(waits, used, gpus):
    rows = []
    for name, low, high in (*SIZES, *LARGE):
        each = sorted(wait for size, wait in waits if low <= size <= high)
        if each:
            rows.append({"size": name, "jobs": len(each), **_spread(each)})
    every = sorted(wait for _, wait in waits)
    part = min(1.0, sum(used) / len(used) / gpus)
    return {
        "jobs": {"done": len(waits), "running": 0, "waiting": 0},
        "wait": {**(_spread(every) if every else {}), "bySize": rows},
        "jct": {"mean": 9_000, "median": 3_000, "p99": 90_000},
        "slowdown": {"mean": 2.5, "median": 1.2, "p99": 30.0},
        "makespan": 700_000,
        "gpus": {
            "used": part,
            "incomplete": 0.0,
            "fragmented": (1 - part) * 0.3,
            "quota": (1 - part) * 0.2,
            "held": (1 - part) * 0.04,
            "freed": (1 - part) * 0.06,
            "lent": part * 0.1,
            "unwanted": (1 - part) * 0.4,
            "off": 0.0,
        },
        "starved": {
            "over12h": sum(wait > 12 * HOUR for wait in every),
            "over12hLarge": sum(size >= 8 and w > 12 * HOUR for size, w in waits),
            "longest": max(every, default=0),
        },
        "fairness": {"jain": 0.83, "worstQueue": "queue-1", "worstWait": 4_000},
        "lost": {"evictions": 0, "failures": 0, "gpuHours": 0.0},
        "rounds": {
            "all": 2_000,
            "planned": 900,
            "empty": 500,
            "full": 400,
            "same": 200,
            "proven": 850,
            "worstGap": 0.04,
            "meanGap": 0.0007,
        },
    }


def _spread(each):
    return {
        "mean": sum(each) / len(each),
        "median": _quantile(each, 0.5),
        "p90": _quantile(each, 0.9),
        "p99": _quantile(each, 0.99),
        "max": each[-1],
    }


_PAIRED = (
    ("wait.mean", "mean wait", "s", "lower"),
    ("wait.p99", "99th percentile wait", "s", "lower"),
    ("gpus.used", "GPU time used", "share", "higher"),
    ("starved.over12h", "jobs that waited over 12 h", "jobs", "lower"),
    ("fairness.jain", "fairness (Jain)", "ratio", "higher"),
)


def _metric(run, name):
    first, second = name.split(".")
    return run["metrics"][first].get(second)


def _paired(runs, strategies):
    rows = []
    for strategy in strategies[1:]:
        for name, label, unit, better in _PAIRED:
            sides = [
                [_metric(run, name) for run in runs if run["strategy"] == who]
                for who in (strategies[0], strategy)
            ]
            if None in sides[0] + sides[1]:
                continue
            apart = [b - a for a, b in zip(*sides, strict=True)]
            parts = [(b - a) / a for a, b in zip(*sides, strict=True) if a]
            rows.append(
                {
                    "metric": name,
                    "label": label,
                    "unit": unit,
                    "better": better,
                    "strategy": strategy,
                    "baseline": sum(sides[0]) / len(sides[0]),
                    "value": sum(sides[1]) / len(sides[1]),
                    "difference": _interval(apart),
                    "relative": _interval(parts),
                    "pairs": len(apart),
                    "bound": 12.5 if name == "wait.mean" else None,
                }
            )
    return rows


def _interval(values):
    if not values:
        return {"mean": None, "low": None, "high": None}
    mean = sum(values) / len(values)
    enough = len(values) >= 3
    return {
        "mean": mean,
        "low": min(values) if enough else None,
        "high": max(values) if enough else None,
    }


def _times(strategy, seed):
    slow = 20 if strategy == "solver" else 1
    return {
        "strategy": strategy,
        "seed": seed,
        "seconds": {
            "total": 90.0 * slow,
            "decisions": 60.0 * slow,
            "median": 0.004 * slow,
            "p99": 0.02 * slow,
            "max": 0.06 * slow,
        },
        "bySize": [
            {
                "shown": "1-10",
                "rounds": 700,
                "median": 0.003 * slow,
                "p99": 0.01 * slow,
            },
            {
                "shown": "11-100",
                "rounds": 200,
                "median": 0.01 * slow,
                "p99": 0.05 * slow,
            },
            {"shown": "101+", "rounds": 9, "median": 0.04 * slow, "p99": 0.3 * slow},
        ],
    }
