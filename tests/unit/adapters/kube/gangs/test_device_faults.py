"""
Devices that cannot be had, and what is odd of them: a reason each, and nobody delayed.
"""

import pytest

import solver
from models.policy import Policy
from tests.helpers.kube.manifests import assembled, node, pod
from tests.helpers.rounds.devices import (
    GPU_CLASS,
    asks,
    attribute,
    claim,
    claiming,
    classes,
    cut_gpus,
    device_class,
    first_of,
    gpu,
    made,
    node_slice,
)

TOLERATES = {"tolerations": [{"key": "broken", "operator": "Exists"}]}


def rule(taint=None, **selector):
    found = taint or {"key": "broken", "effect": "NoSchedule"}
    return made("DeviceTaintRule", "r", {"deviceSelector": selector, "taint": found})


def asking(name, *requests):
    own = claim(name, *(requests or [asks("gpu", GPU_CLASS)]))
    return [own, pod(name, gpus=0, **claiming(name))]


def planned(*raws):
    """
    Plan two nodes: which pods start where, why others wait, and what is said.
    """
    return decided(node("n", gpus=0), node("other", gpus=0), *raws)


def decided(*raws):
    found = assembled(*classes(), *raws)
    plan = solver.decide(found.snapshot, Policy())
    starts = {step.pod.partition("/")[2]: step.node for step in plan.operations}
    waits = {
        line.name.partition("/")[2]: str(line.waiting.facts.get("detail", ""))
        for line in plan.gangs
        if line.waiting
    }
    return starts, waits, found.summary.warnings


@pytest.mark.parametrize(
    "selector",
    [
        {},
        {"driver": "gpu.nvidia.com"},
        {"pool": "n"},
        {"driver": "gpu.nvidia.com", "pool": "n", "device": "gpu-0"},
    ],
)
def test_a_rule_taints_the_devices_that_it_selects(selector):
    devices = node_slice("n", [gpu(0)])

    assert {} == planned(devices, rule(**selector), *asking("p"))[0]
    tolerant = asking("p", asks("gpu", GPU_CLASS, **TOLERATES))
    assert {"p": "n"} == planned(devices, rule(**selector), *tolerant)[0]


@pytest.mark.parametrize(
    "selector", [{"driver": "other"}, {"pool": "other"}, {"device": "gpu-1"}]
)
def test_a_rule_taints_no_other_devices(selector):
    devices = node_slice("n", [gpu(0)])

    assert {"p": "n"} == planned(devices, rule(**selector), *asking("p"))[0]


def test_a_rule_that_only_tells_taints_nothing():
    told = rule({"key": "broken", "effect": "None"})

    assert {"p": "n"} == planned(node_slice("n", [gpu(0)]), told, *asking("p"))[0]


@pytest.mark.parametrize(
    ("taint", "selector", "field"),
    [
        ({"key": "k"}, {}, "spec.taint"),
        ({"effect": "NoSchedule"}, {}, "spec.taint"),
        ({"key": 3, "effect": "NoSchedule"}, {}, "spec.taint.key"),
        (None, {"driver": 7}, "spec.deviceSelector.driver"),
        (None, {"selectors": []}, "spec.deviceSelector.selectors"),
    ],
)
def test_a_rule_that_cannot_be_read_is_said_and_taints_nothing(taint, selector, field):
    odd = rule(taint, **selector)
    starts, _, said = planned(node_slice("n", [gpu(0)]), odd, *asking("p"))

    assert {"p": "n"} == starts
    assert field in said[0]


ODD_SELECTORS = {
    "device.attributes.all(a, true)": "loops (all)",
    "[1, 2].exists(x, x == 1)": "loops (exists)",
    "device.driver ==": "",
    "1 / 0 == 1": "",
    f"{attribute('nothing')} == 'x'": "",
    f"{attribute('uuid')} == 3": "",
    "device.driver": "",
    "(" * 200 + "true" + ")" * 200: "",
    "device.driver.matches('(a+)+$')": "",
}


@pytest.mark.parametrize("expression", ODD_SELECTORS)
def test_a_selector_that_loops_throws_or_is_none_keeps_its_gang_alone(expression):
    odd = asking("odd", asks("gpu", GPU_CLASS, 1, expression))
    devices = node_slice("n", [gpu(0)])
    starts, waits, _ = planned(devices, *odd, *asking("good"))

    assert starts in ({"good": "n"}, {"good": "n", "odd": "n"})
    if "odd" not in starts:
        assert "odd" in waits
        assert ODD_SELECTORS[expression] in waits["odd"]
    else:  # it is true of nothing, or of everything, and no reason is needed
        pytest.fail("an odd selector was obeyed")


@pytest.mark.parametrize("count", ["2", "8", "many", "9" * 50, ""])
def test_fewer_gpus_than_its_label_says_are_what_a_node_has(count):
    devices = node_slice("n", [gpu(0), gpu(1)])
    there = node("n", gpus=0, labels={"nvidia.com/gpu.count": count})

    assert {"p": "n"} == decided(there, devices, *asking("p"))[0]


def test_more_gpus_in_slices_than_a_label_says_close_the_devices_of_the_node():
    devices = node_slice("n", [gpu(0), gpu(1)])
    there = node("n", gpus=0, labels={"nvidia.com/gpu.count": "1"})
    plain = pod("plain", gpus=0)
    starts, waits, said = decided(there, devices, plain, *asking("p"))

    assert {"plain": "n"} == starts
    assert {"p"} == waits.keys()
    assert "label nvidia.com/gpu.count says 1, and its slices have 2 GPUs" in said[0]


@pytest.mark.parametrize(("plugged", "closed"), [(1, False), (2, True), (20, True)])
def test_gpus_that_a_device_plugin_gives_are_not_claimed_too(plugged, closed):
    slices = node_slice("n", [gpu(0), gpu(1)])
    there = node("n", gpus=plugged, labels={"nvidia.com/gpu.count": "3"})
    starts, _, said = decided(there, slices, *asking("p"))

    assert ({} if closed else {"p": "n"}) == starts
    assert closed == any("slices have 2 GPUs, and it offers" in each for each in said)


H100, SLICE = "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB MIG 1g.5gb"


@pytest.mark.parametrize(
    ("label", "value", "slices"),
    [
        ("memory", "40960", "81920 MiB"),
        ("memory", "0", "81920 MiB"),
        ("product", "NVIDIA-A100-SXM4-80GB", H100),
        ("product", "NVIDIA-L40S", H100),
        ("product", "NVIDIA-GeForce-RTX-4090", H100),
    ],
)
def test_slices_of_other_gpus_than_a_label_says_give_no_devices(label, value, slices):
    devices = node_slice("n", [gpu(0)]), node_slice("other", [gpu(0)])
    labels = {f"nvidia.com/gpu.{label}": value}
    nodes = node("n", gpus=0, labels=labels), node("other", gpus=0)
    claims = *asking("p"), *asking("q")
    starts, waits, said = decided(*nodes, *devices, *claims, pod("plain", gpus=0))

    assert {"p": "other"} == {
        name: at for name, at in starts.items() if name != "plain"
    }
    assert {"q"} == waits.keys()
    assert "plain" in starts
    what = f"label nvidia.com/gpu.{label} says {value}, and its slices {slices}"
    assert said == (f"node n: no devices by claim: {what}",)


@pytest.mark.parametrize(
    ("label", "value", "product"),
    [
        ("memory", "81559", H100),
        ("memory", "", H100),
        ("memory", "80Gi", H100),
        ("memory", "9" * 30, H100),
        ("product", "NVIDIA-H100-80GB-HBM3", H100),
        ("product", "NVIDIA-H100-80GB-HBM3-SHARED", H100),
        ("product", "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", H100),
        ("product", "H100", H100),
        ("product", "GPU", H100),
        ("product", "", H100),
        ("product", "NVIDIA-A100-SXM4-40GB", SLICE),
        ("product", "NVIDIA-GeForce-RTX-4090", "GeForce RTX 4090"),
        ("product", "NVIDIA-L40S", "Unknown"),
        ("mig.strategy", "single", H100),
    ],
)
def test_a_label_that_says_the_same_in_other_words_closes_nothing(
    label, value, product
):
    there = node("n", gpus=0, labels={f"nvidia.com/gpu.{label}": value})
    devices = node_slice("n", [gpu(0, product)])

    assert ({"p": "n"}, {}, ()) == decided(there, devices, *asking("p"))


def test_labels_of_slices_agree_with_slices_of_any_size():
    sets, devices = cut_gpus("n", 1)
    labels = {"nvidia.com/gpu.memory": "9984", "nvidia.com/gpu.count": "7"}

    assert "no devices" not in str(
        decided(node("n", gpus=0, labels=labels), sets, devices, *asking("p"))[2]
    )


def test_a_class_whose_selector_throws_keeps_who_asks_for_it_alone():
    broken = device_class("broken", f"{attribute('nothing')} == 'x'")
    starts, waits, _ = planned(
        broken,
        node_slice("n", [gpu(0)]),
        *asking("odd", asks("gpu", "broken")),
        *asking("good"),
    )

    assert {"good": "n"} == starts
    assert "DeviceClass broken, spec.selectors[0].cel.expression" in waits["odd"]


def test_old_generations_and_incomplete_pools_are_not_used():
    old = node_slice("n", [gpu(i) for i in range(8)], generation=1)
    new = node_slice("n", [gpu(0)], generation=2)
    half = node_slice("other", [gpu(0)], of=2)
    starts, waits, said = planned(old, new, half, *asking("a"), *asking("b"))

    assert ["n"] == list(starts.values())
    assert 1 == len(waits)
    assert "pool other of driver gpu.nvidia.com is not used: " in said[0]
    assert "1 of 2 slices of generation 1 are there" in said[0]


def test_a_pool_whose_counters_do_not_add_up_is_not_used():
    sets, devices = cut_gpus("n", 1)
    short = sets["spec"]["sharedCounters"][0]["counters"]
    short["multiprocessors"] = {"value": "100"}
    good = node_slice("other", [gpu(0)])
    starts, _, said = planned(sets, devices, good, *asking("p"))

    assert {"p": "other"} == starts
    assert "consumes multiprocessors of counter set gpu-0-counter-set" in said[0]


X = {"x": {"value": "1"}}


@pytest.mark.parametrize(
    ("odd", "field"),
    [
        ({"name": "gpu-0", "attributes": {"type": "gpu"}}, "attributes.type"),
        ({"name": "gpu-0", "capacity": {"memory": {"value": "much"}}}, "memory.value"),
        ({"name": 3}, "name"),
        (gpu(0, consumesCounters=[{"counterSet": "c", "counters": X}]), "not there"),
        ({"name": "gpu-0", "taints": [{"key": "k", "effect": 1}]}, "taints.effect"),
    ],
)
def test_a_slice_that_cannot_be_read_costs_its_pool_alone(odd, field):
    good = node_slice("other", [gpu(0)])
    starts, _, said = planned(node_slice("n", [odd]), good, *asking("p"))

    assert {"p": "other"} == starts
    assert field in " ".join(said)


LISTS = {
    "requests": lambda n: claim("p", *[asks(f"r{at}", GPU_CLASS) for at in range(n)]),
    "selectors": lambda n: claim("p", asks("r", GPU_CLASS, 1, *["true"] * n)),
    "tolerations": lambda n: claim(
        "p", asks("r", GPU_CLASS, tolerations=[{"operator": "Exists"}] * n)
    ),
    "firstAvailable": lambda n: claim("p", first_of("r", *[(GPU_CLASS, ())] * n)),
    "constraints": lambda n: claim(
        "p", asks("r", GPU_CLASS), constraints=[{"matchAttribute": "a/b"}] * n
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_that_are_longer_than_any_server_takes_are_refused(name):
    _, waits, _ = planned(LISTS[name](33), pod("p", gpus=0, **claiming("p")))
    _, others, _ = planned(LISTS[name](32), pod("p", gpus=0, **claiming("p")))

    assert f"{name}: it has 33 entries, more than 32" in waits["p"]
    assert "entries" not in others.get("p", "")
