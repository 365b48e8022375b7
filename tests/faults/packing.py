"""
Faults of packing: classes of nodes, and counts that no packing holds.
"""

from tests.faults.changes import NO_PATTERNS, NO_REPAIR
from tests.faults.fault import Fault
from tests.faults.switch import always, both, number, switch


def _sums_only(old):
    """
    Keep the sum row of each resource, without the floor rows that know of nodes.
    """

    def rows(requests, kinds, counts):
        each = [[r] for r in range(requests.shape[1])]
        found = [old(requests[:, r], kinds[:, r], counts) for r in each]
        return [row for rows in found for row in rows[:1]]

    return rows


NO_MODEL_OF_A_CLASS = number("decode.exact_cells", 0)

FAULTS: tuple[Fault, ...] = (
    Fault(
        "floor-rows-dropped",
        "classes are sums over nodes, and what cannot be packed is not repaired",
        both(
            switch("solver.encode.capacity_rows:resource_rows", _sums_only),
            NO_REPAIR,
        ),
        ("packing/nodes-of-five-hold-no-fifth-pair",),
    ),
    Fault(
        "no-patterns",
        "nobody chooses what whole nodes hold",
        NO_PATTERNS,
        ("packing/what-whole-nodes-hold-is-chosen-together",),
    ),
    Fault(
        "classes-of-unlike-nodes",
        "nodes are one class although other pods fit them",
        switch("solver.encode.devices.device_kinds:hash_row", always(0)),
        ("nodes/labels-tell-nodes-with-equal-room-apart",),
    ),
    Fault(
        "no-repair",
        "a class that cannot be packed is not split",
        NO_REPAIR,
        ("packing/a-packing-that-fails-gives-way-to-the-next-best",),
    ),
    Fault(
        "no-exact-packing",
        "classes are packed by fit only, and not split",
        both(NO_MODEL_OF_A_CLASS, NO_REPAIR),
        ("packing/a-pair-is-split-to-fill-two-nodes",),
    ),
    Fault(
        "capacity-rows-dropped",
        "nodes hold whatever is wanted, and nothing is repaired",
        both(switch("solver.encode.capacity:add_class_rows", always(None)), NO_REPAIR),
        (
            "packing/sums-that-no-packing-reaches",
            "packing/what-cannot-be-packed-holds-no-room",
        ),
    ),
)
