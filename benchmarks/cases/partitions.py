"""
Random gangs whose claims name alternatives, on GPUs that may be had whole or in parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from adapters.kube.api.api_resources import Raw
from adapters.kube.claims.dealing import dealt
from adapters.kube.claims.device_choices import options_of
from adapters.kube.claims.device_items import items_of
from adapters.kube.claims.device_reading import DeviceReading
from benchmarks.cases.claims import API, DRIVER
from exact.partitions import ClaimingGang, PartDevice, most_that_start

READ_KINDS = ("DeviceClass", "ResourceSlice", "DeviceTaintRule")

QUARTERS = 4
SIZES: Mapping[str, int] = {"whole": 4, "half": 2, "quarter": 1}
"""
The quarters of a GPU that each part of it takes; they begin at multiples of these.
"""
_CHOICES = (
    ("whole", 1),
    ("half", 2),
    ("half", 1),
    ("quarter", 1),
    ("quarter", 2),
    ("quarter", 3),
    ("whole", 2),
)
_IN_USE = 0.3
Choice = tuple[str, int]


@dataclass(frozen=True, slots=True)
class PartitionsCase:
    """
    GPUs by node with the quarters of each that are free, and gangs with their choices.
    """

    free: tuple[tuple[frozenset[int], ...], ...]
    gangs: tuple[tuple[int, tuple[Choice, ...]], ...]


def whole_or_halves() -> PartitionsCase:
    """
    Give the known case: one GPU, and two pods that each take it whole or half of it.
    """
    every = frozenset(range(QUARTERS))
    return PartitionsCase(((every,),), ((2, (("whole", 1), ("half", 1))),))


def random_case(seed: int) -> PartitionsCase:
    """
    Make a few nodes, some of whose GPUs are in use, and gangs that ask for more.
    """
    rnd = Random(f"partitions-{seed}")
    free = tuple(
        tuple(_free(rnd) for _ in range(rnd.randint(1, 4)))
        for _ in range(rnd.randint(1, 3))
    )
    gangs = tuple(
        (rnd.randint(1, 4), tuple(rnd.sample(_CHOICES, rnd.randint(1, 3))))
        for _ in range(rnd.randint(1, 4))
    )
    return PartitionsCase(free, gangs)


def _free(rnd: Random) -> frozenset[int]:
    every = range(QUARTERS)
    if rnd.random() > _IN_USE:
        return frozenset(every)
    sort = rnd.choice(("half", "quarter", "quarter"))
    begin = rnd.randrange(0, QUARTERS, SIZES[sort])
    return frozenset(every) - {*range(begin, begin + SIZES[sort])}


def devices_of(gpu: int) -> Sequence[tuple[str, str, frozenset[int]]]:
    """
    List the devices of one GPU: name, sort, and the quarters that each takes.
    """
    return [
        (f"gpu-{gpu}-{sort}-{at}", sort, frozenset(range(at, at + size)))
        for sort, size in SIZES.items()
        for at in range(0, QUARTERS, size)
    ]


def manifests(case: PartitionsCase) -> list[Raw]:
    """
    Write what a driver, an administrator and people do, and who has what already.
    """
    found = [_class(sort) for sort in SIZES]
    for at, gpus in enumerate(case.free):
        found += [_node(at), *_slices(at, len(gpus))]
        for gpu, free in enumerate(gpus):
            found += _held(at, gpu, free)
    for at, (members, choices) in enumerate(case.gangs):
        found.append(_group(at, members))
        for pod in range(members):
            found += _pod(f"g{at}-{pod}", at, choices)
    return found


def _class(sort: str) -> Raw:
    said = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].sort == "
    spec = {"selectors": [{"cel": {"expression": f"{said}'{sort}'"}}]}
    meta = {"name": sort}
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": meta, "spec": spec}


def _node(at: int) -> Raw:
    offered = {"cpu": "96", "memory": "768Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{at}"},
        "status": {"allocatable": offered},
    }


def _slices(at: int, gpus: int) -> list[Raw]:
    counters = {f"quarter-{number}": {"value": "1"} for number in range(QUARTERS)}
    sets = [{"name": f"gpu-{gpu}", "counters": counters} for gpu in range(gpus)]
    devices = [
        {
            "name": name,
            "attributes": {"sort": {"string": sort}},
            "consumesCounters": [
                {
                    "counterSet": f"gpu-{gpu}",
                    "counters": {f"quarter-{n}": {"value": "1"} for n in sorted(taken)},
                }
            ],
        }
        for gpu in range(gpus)
        for name, sort, taken in devices_of(gpu)
    ]
    pool = {"name": f"n{at}", "generation": 1, "resourceSliceCount": 2}
    own = {"driver": DRIVER, "nodeName": f"n{at}", "pool": pool}
    return [
        {
            "apiVersion": API,
            "kind": "ResourceSlice",
            "metadata": {"name": f"n{at}-{name}"},
            "spec": own | more,
        }
        for name, more in (
            ("counters", {"sharedCounters": sets}),
            ("devices", {"devices": devices}),
        )
    ]


def _held(at: int, gpu: int, free: frozenset[int]) -> list[Raw]:
    """
    Write the claim of somebody else that has what is not free of a GPU.
    """
    gone = frozenset(range(QUARTERS)) - free
    if not gone:
        return []
    device, sort = next((d, s) for d, s, taken in devices_of(gpu) if taken == gone)
    name = f"held-{at}-{gpu}"
    result = {"request": "gpu", "driver": DRIVER, "pool": f"n{at}", "device": device}
    rule = {"key": "metadata.name", "operator": "In", "values": [f"n{at}"]}
    raw = _claim(name, ((sort, 1),))
    status = {
        "allocation": {
            "devices": {"results": [result]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [rule]}]},
        },
        "reservedFor": [{"resource": "pods", "name": "other", "uid": "other"}],
    }
    return [{**raw, "status": status}]


def _meta(name: str, **more: object) -> Raw:
    return {"name": name, "namespace": "default", "uid": f"uid-{name}", **more}


def _claim(name: str, choices: Sequence[Choice]) -> Raw:
    alternatives = [
        {"name": f"a{at}", "deviceClassName": sort, "count": number}
        for at, (sort, number) in enumerate(choices)
    ]
    request = {"name": "gpu", "firstAvailable": alternatives}
    spec = {"devices": {"requests": [request]}}
    return {
        "apiVersion": API,
        "kind": "ResourceClaim",
        "metadata": _meta(name),
        "spec": spec,
    }


def _group(at: int, members: int) -> Raw:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": _meta(f"g{at}"),
        "spec": {"minMember": members},
    }


def _pod(name: str, gang: int, choices: Sequence[Choice]) -> list[Raw]:
    labels = {"scheduling.x-k8s.io/pod-group": f"g{gang}"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _meta(name, labels=labels),
        "spec": {
            "schedulerName": "phalanx",
            "containers": [{"name": "main"}],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": name}],
        },
    }
    return [_claim(name, choices), pod]


def exact_case(case: PartitionsCase) -> int:
    """
    Count the gangs of a case that can start together, by the exact model.
    """
    devices = [
        PartDevice(f"n{at}", sort, frozenset((gpu, each) for each in taken))
        for at, gpus in enumerate(case.free)
        for gpu, free in enumerate(gpus)
        for _, sort, taken in devices_of(gpu)
        if taken <= free
    ]
    return most_that_start(devices, [ClaimingGang(*gang) for gang in case.gangs])


def without_devices(raws: Sequence[Raw], bound: Mapping[str, str]) -> list[str]:
    """
    Name the pods of a plan, each with its node, to which no devices can be dealt.
    """
    reading = DeviceReading()
    reading.read(*([x for x in raws if x["kind"] == kind] for kind in READ_KINDS))
    claims = reading.claims([raw for raw in raws if raw["kind"] == "ResourceClaim"])
    asked = {
        pod: items_of(spec)
        for pod in bound
        if (spec := claims[f"default/{pod}"].spec) is not None
    }
    reading.free.see(each.item for some in asked.values() for each in some)
    held = [each for claim in claims.values() for each in claim.held or ()]
    found: list[str] = []
    for node in sorted({*bound.values()}):
        wanted = [
            (
                pod,
                [
                    options_of(each.item, reading.free.singles)
                    for each in asked[pod]
                    for _ in range(each.times)
                ],
            )
            for pod, of in sorted(bound.items())
            if of == node
        ]
        bins = reading.free.of_node(node, held)
        ways = {} if isinstance(bins, str) else dealt(bins, wanted)
        found += [pod for pod, _ in wanted if pod not in ways]
    return found
