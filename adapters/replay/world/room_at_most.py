"""
The room there could be at most if others left, so that a round is shown no more gangs.

Who runs may be made to leave by a queue that is owed more than it holds, as far as its
own queue is above its share or its quota; one that lost some of its pods, always.
"""

from adapters.replay.world.world import World
from models.queues import Queue
from models.resources import GPU, Resources, add


def room_at_most(world: World) -> Resources | None:
    """
    Add up what is free and what may leave; None where no sum bounds it.
    """
    books = world.books
    if not books.queues or len(world.line.tally) > 1:
        return None
    ground = world.ground
    room = ground.room()
    largest: dict[str, dict[str, int]] = {}
    for fate in world.active.values():
        gang: dict[str, int] = {}
        for requests, _ in fate.requests():
            add(gang, requests)
        if not fate.runs:
            add(room, gang)
        mine = largest.setdefault(fate.job.queue, {})
        for resource, amount in gang.items():
            mine[resource] = max(mine.get(resource, 0), amount)
    for name, queue in books.queues.items():
        used = books.used[name]
        above = _above(queue, used, world.shares.get(name, {}), largest.get(name, {}))
        add(room, above)
    if ground.pieces > 1:
        del room[GPU]  # a GPU is idle once all who share it have left
    return room


def _above(
    queue: Queue, used: Resources, share: Resources, largest: Resources
) -> Resources:
    """
    Give what of a queue's use may leave: the last to go may take it below its share.

    Where it is above in one of several resources, it may lose of all of them.
    """
    named = queue.resources
    due: dict[str, int] = {}
    for resource in named:
        quota = queue.rule(resource).quota
        fair = share.get(resource, 0)
        due[resource] = fair if quota is None else min(fair, quota)
    above = [r for r in named if used.get(r, 0) > due[r]]
    if not above:
        return {}
    if len(named) > 1:
        return used
    (only,) = above
    most = used[only] - due[only] + largest.get(only, 0)
    return {**used, only: min(used[only], most)}
