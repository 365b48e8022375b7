"""
Idle GPUs, and what they wait for.
"""

from adapters.replay.measures.gpu_use import LENT
from adapters.replay.world.free_nodes import Ground
from adapters.replay.world.lent_nodes import LentNodes
from adapters.replay.world.queue_usage import Books
from adapters.replay.world.waiting_jobs import WaitingJobs
from adapters.replay.world.window import may_start


def idle_gpus(
    ground: Ground, line: WaitingJobs, books: Books, lent: LentNodes
) -> dict[str, int]:
    """
    Say of the GPUs that are free why they are, and how many are lent.
    """
    idle = max(0, ground.free_gpus)  # parts count the larger of compute and memory
    demand = sum(line.gpus.values())
    wanted = min(idle, demand)
    allowed = min(wanted, _within_limits(line, books, ground)) if wanted else 0
    fitting = min(allowed, _fitting(ground, line, books)) if allowed else 0
    held = min(fitting, lent.held)
    level = {"unwanted": idle - wanted, "quota": wanted - allowed}
    level |= {"fragmented": allowed - fitting, "freed": fitting - held}
    return level | {"held": held, LENT: lent.gpus}


def _within_limits(line: WaitingJobs, books: Books, ground: Ground) -> int:
    """
    Add up the GPUs that queues may still take and wait for.
    """
    total, counted = 0, ground.counted
    for queue, gpus in line.gpus.items():
        tables = books.limits.get(queue, ())
        left = min(
            (t[counted] for t in tables if counted in t), default=ground.free_gpus
        )
        total += min(gpus, max(0, left))
    return total


def _fitting(ground: Ground, line: WaitingJobs, books: Books) -> int:
    """
    Add up the GPUs that waiting gangs which would fit alone ask for.
    """
    return sum(
        kind.gpus * min(len(kind.line), may_start(kind, ground, books))
        for kind in line.waiting()
    )
