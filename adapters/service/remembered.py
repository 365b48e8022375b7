"""
What the scheduler of a cluster remembers, for commands that only look.
"""

import time
from dataclasses import replace

from adapters.inventory.listed import Seen
from adapters.kube.acting.intent import looked_at, place_of
from adapters.kube.api.errors import ClusterError
from adapters.loop.memory.used_so_far import UsageMemory
from adapters.service.following import Followed
from adapters.service.run_settings import as_run_here


def with_usage(seen: Seen, here: Followed) -> Seen:
    """
    Let queues show what they used over time, where shares have a memory.

    Who may not read what is remembered sees what is there now, as without it.
    """
    run = as_run_here()
    try:
        kept = looked_at(here.transport, place_of(run.namespace, run.shard)).memory
    except ClusterError:
        return seen
    usage = UsageMemory.kept(kept.get("usage"))
    shares = seen.policy.shares.model_copy(update={"half_life": usage.half_life})
    queues = usage.applied(seen.snapshot.queues, time.time())
    return replace(
        seen,
        snapshot=replace(seen.snapshot, queues=queues),
        policy=seen.policy.model_copy(update={"shares": shares}),
    )
