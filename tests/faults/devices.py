"""
Faults of devices below a whole GPU.
"""

from dataclasses import replace

from models.resources import GPU
from tests.faults.fault import Fault
from tests.faults.switch import always, switch

FAULTS = (
    Fault(
        "shared-gpus-given-whole",
        "a GPU of which somebody has a part is given whole",
        switch("solver.devices.device_columns:shared_devices", always(())),
        ("devices/a-shared-gpu-is-not-given-whole",),
    ),
    Fault(
        "running-instances-forgotten",
        "slices that running instances take are free",
        switch(
            "solver.devices.device_columns:DeviceColumns._slice",
            lambda _old: staticmethod(lambda *_args: None),
        ),
        ("devices/instances-that-run-do-not-move",),
    ),
    Fault(
        "others-on-shared-gpus-forgotten",
        "a GPU that others share has all of itself left",
        switch(
            "solver.devices.device_columns:DeviceColumns.empty",
            lambda old: (
                lambda columns, nodes: old(
                    columns, [replace(node, taken=()) for node in nodes]
                )
            ),
        ),
        ("devices/what-others-have-of-a-gpu-is-taken",),
    ),
    Fault(
        "parts-open-idle-gpus",
        "greedy opens an idle GPU for a part while a shared one has room",
        switch("solver.problem.node_room:NodeRoom.on_open_devices", always(None)),
        ("devices/a-part-leaves-the-tightest-gpu-whole",),
        strategy="greedy",
    ),
    Fault(
        "parts-on-any-open-gpu",
        "greedy gives a part any shared GPU with room, not the fullest",
        switch("solver.devices.part_places:least_left", always(0)),
        ("devices/a-part-goes-to-the-fullest-gpu",),
        strategy="greedy",
    ),
    Fault(
        "parts-are-no-gpus",
        "the tier of GPUs counts whole ones only",
        switch(
            "models.resources:gpu_pieces",
            lambda _old: lambda requests, pieces: pieces * requests.get(GPU, 0),
        ),
        ("devices/parts-count-in-the-tier-of-gpus",),
        strategy="solver",
    ),
    Fault(
        "one-frees-what-several-have",
        "a piece of a node is free while one is tied to it still",
        switch(
            "solver.devices.tied_pieces:TiedPieces.free",
            lambda old: lambda pieces, node, rows: old(pieces, node, rows + 1),
        ),
        ("evict/preempt/what-several-have-together-is-free-once-all-have-left",),
    ),
    Fault(
        "who-leaves-stays-tied",
        "a piece of a node stays in use once all have left who were tied to it",
        switch("solver.devices.tied_pieces:TiedPieces.hold", always(None)),
        ("evict/preempt/what-several-have-together-is-free-once-all-have-left",),
    ),
    Fault(
        "sharers-free-nothing",
        "who leaves a shared GPU leaves its devices taken",
        switch("solver.devices.device_columns:DeviceColumns.hold", always(None)),
        (
            "devices/a-higher-band-gets-an-instance",
            "devices/one-sharer-leaves-for-a-part",
        ),
    ),
    Fault(
        "promised-devices-forgotten",
        "what was promised of a GPU that somebody leaves is given to others",
        switch("solver.evict.reservations:_promised_devices", always({})),
        ("devices/a-promised-part-keeps-its-gpu",),
    ),
    Fault(
        "what-is-of-no-use-forgotten",
        "greedy does not ask where a pod leaves least of no use",
        switch("solver.place.round_state:left_over_of", always(None)),
        (
            "devices/a-part-leaves-what-typical-pods-can-use",
            "packing/a-gpu-keeps-the-cpus-that-typical-pods-need",
        ),
        strategy="greedy",
    ),
    Fault(
        "devices-named-by-fit",
        "parts get the fullest GPU of a node, whatever is then of no use",
        switch("solver.plan.placement:least_left_over", always({})),
        ("devices/a-part-lies-on-the-gpu-that-stays-of-use",),
    ),
    Fault(
        "typical-cpus-forgotten",
        "typical pods need nothing but GPUs",
        switch(
            "solver.devices.device_fragments:Fragments._ample",
            lambda _old: lambda frags, _node, _row: (10**6,) * len(frags.typical),
        ),
        (
            "packing/a-gpu-keeps-the-cpus-that-typical-pods-need",
            "packing/gpus-without-cpus-for-all-are-of-less-use",
        ),
    ),
    Fault(
        "typical-cpus-for-one",
        "what one typical pod may use, as many as there are GPUs may",
        switch(
            "solver.devices.device_fragments:Fragments._ample",
            lambda old: (
                lambda frags, node, row: tuple(
                    10**6 * bool(enough) for enough in old(frags, node, row)
                )
            ),
        ),
        ("packing/gpus-without-cpus-for-all-are-of-less-use",),
    ),
    Fault(
        "typical-pods-by-number",
        "typical pods count by their number alone, however many GPUs they take",
        switch(
            "models.devices.typical_pods:_size",
            lambda old: lambda kind, memories: min(1000, 1000 * old(kind, memories)),
        ),
        ("packing/small-typical-pods-count-more",),
    ),
)
