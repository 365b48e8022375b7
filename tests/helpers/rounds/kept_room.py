"""
Kept room by trying every set of queues: what all others hold leaves what these keep.
"""

from collections import Counter
from itertools import product


def leaves_kept_room(snapshot, named, held, asked, gone=None):
    """
    Tell whether starts leave the room that queues keep; rows are of leaf queues.
    """
    parents = {queue.name: queue.parent for queue in snapshot.queues}
    after = Counter(held)
    after.update(asked)
    after.subtract(gone or {})
    return all(
        sum(after[name, resource] for name in others) <= most
        for resource in named
        for most, others in bounds(snapshot, parents, resource)
        if any(asked[name, resource] > 0 for name in others)
    )


def bounds(snapshot, parents, resource):
    total = sum(
        max(0, node.allocatable.get(resource, 0) - node.used.get(resource, 0))
        for node in snapshot.nodes
    )
    keeping = [queue for queue in snapshot.queues if queue.rule(resource).kept]
    leaves = set(parents) - set(parents.values())
    tops = [(None, total)]
    tops += [(q.name, q.rule(resource).limit) for q in snapshot.queues]
    for top, most in tops:
        below = [q for q in keeping if top in above(parents, q.name)]
        sets = [
            {queue.name: queue.rule(resource).kept for queue in pick if queue}
            for pick in product(*((None, queue) for queue in below))
        ]
        sets = [
            x for x in sets if all(x.keys().isdisjoint(above(parents, n)) for n in x)
        ]
        if most is None:
            continue
        floor = max(sum(some.values()) for some in sets)
        for some in filter(None, sets):
            others = {
                name
                for name in leaves
                if top in above(parents, name) and not some.keys() & path(parents, name)
            }
            yield max(most, floor) - sum(some.values()), others


def above(parents, name):
    """
    Name the queues above one, and the cluster, which is none.
    """
    return path(parents, parents[name]) | {None}


def path(parents, name):
    return {name} | path(parents, parents[name]) if name is not None else set()
