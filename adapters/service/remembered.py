"""
What the scheduler of a cluster remembers, for commands that only look.
"""

import time
from dataclasses import replace

from adapters.inventory.listed import Seen
from adapters.kube.acting.intent import looked_at, place_of
from adapters.kube.api.errors import ClusterError
from adapters.loop.memory.held import HeldTime
from adapters.loop.memory.held_gangs import HoldMemory
from adapters.loop.memory.start_memory import StartMemory
from adapters.loop.memory.used_so_far import UsageMemory
from adapters.service.following import Followed
from adapters.service.run_settings import as_run_here
from models.memory.start_record import NO_STARTS, StartRecord


def starts_on_record(here: Followed) -> StartRecord:
    """
    Give what the scheduler of a cluster remembers of starts; nothing if none may say.
    """
    run = as_run_here()
    try:
        kept = looked_at(here.transport, place_of(run.namespace, run.shard)).memory
    except ClusterError:
        return NO_STARTS
    memory = StartMemory()
    memory.restore(kept.get("starts"))
    return memory.record(time.time())


def with_memory(seen: Seen, here: Followed) -> Seen:
    """
    Let queues show what they used over time, where shares have a memory, and holds.

    Who may not read what is remembered sees what is there now, as without it.
    """
    run = as_run_here()
    try:
        kept = looked_at(here.transport, place_of(run.namespace, run.shard)).memory
    except ClusterError:
        return seen
    usage = UsageMemory.kept(kept.get("usage"))
    shares = seen.policy.shares.model_copy(update={"half_life": usage.half_life})
    now = time.time()
    queues = usage.applied(seen.snapshot.queues, now)
    held, holds = HeldTime(seen.policy.waiting.window), HoldMemory()
    held.restore(kept.get("held"), held_on=True)
    holds.restore(kept.get("holds"), held_on=True)
    return replace(
        seen,
        snapshot=replace(
            seen.snapshot,
            queues=queues,
            held=held.within(now),
        ),
        policy=seen.policy.model_copy(update={"shares": shares}),
        holds={gang: holds.of(gang, now)[0] for gang in sorted(holds.now)},
    )
