"""
Names of resources that are ours, as people read them.
"""

import pytest

from models.devices.gpu_counts import shown_amount, written_amounts
from models.host_ports import PARTS, port_requests
from models.why.kept_off import SELECTOR, TAINT, kept_off
from models.why.resource_words import in_words
from models.why.verdicts import amount


@pytest.mark.parametrize(
    ("resource", "words"),
    [
        ("free-volumes-local/10Gi", "volumes of class local (10Gi or larger)"),
        (
            "free-volumes-local/10Gi-1",
            "volumes of class local (10Gi or larger, of some)",
        ),
        ("attachable-volumes-csi-ebs", "slots for volumes of driver ebs"),
        ("attachable-volumes-csi-ebs/ml/c", "slots for volumes of driver ebs"),
        ("claimed-devices.gpu", "devices of class gpu by claim"),
        (
            "claimed-devices.mig.example.com_or_gpu",
            "devices of class mig.example.com or gpu by claim",
        ),
        ("claimed-devices.2xgpu", "sets of claimed devices (2 gpu)"),
        ("claimed-devices.gpu_and_2xnic", "parts of claimed devices (gpu, nic)"),
        (
            "claimed-devices.4x2xmig_and_4xgpu_or_mig_and_mig_52c327_and_8xmig_01a9e4",
            "parts of claimed devices (mig, gpu or mig)",
        ),
        ("claimed-devices.gpu_with_nic", "sets of claimed devices (gpu with nic)"),
        ("host-port/TCP/80", "host port 80/TCP"),
        ("nvidia.com/gpu", "nvidia.com/gpu"),
        ("nvidia.com/gpu@H100", "nvidia.com/gpu@H100"),
        ("nvidia.com/gpu@other-models", "GPUs of models that no queue names"),
    ],
)
def test_names_of_ours_are_said_in_words(resource, words):
    assert words == in_words(resource)


def test_one_of_them_is_said_as_one():
    assert "slot for volumes of driver ebs" == in_words("attachable-volumes-csi-ebs", 1)
    assert "host port 80/TCP" == in_words("host-port/TCP/80", 1)


def test_gpus_of_one_model_are_said_so():
    assert "1 GPU of H100" == amount("nvidia.com/gpu@H100", 1)
    assert "4 GPUs of H100" == amount("nvidia.com/gpu@H100", 4)


def test_a_port_is_counted_by_the_nodes_that_have_it():
    (name, parts), *_ = port_requests(80).items()

    assert "3" == shown_amount(name, 3 * parts)
    assert "1 host port 80/TCP" == amount(name, parts)
    assert "3 host ports 80/TCP" == amount(name, 3 * parts)
    assert {name: "2"} == written_amounts({name: 2 * parts})


@pytest.mark.parametrize(
    ("resource", "left", "said"),
    [
        ("host-port/TCP/80", PARTS, "; 1 host port 80/TCP is free on a"),
        ("cpu", 1000, "; 1 cpu is free on a"),
        ("nvidia.com/gpu", 2, "; 2 GPUs are free on a"),
    ],
)
def test_one_of_a_resource_is_free_and_several_are(resource, left, said):
    facts = kept_off(TAINT, "t", ["a"], resource, left)

    assert str(facts["there"]).endswith(said)


def test_one_label_is_asked_for_and_several_are():
    one = kept_off(SELECTOR, "gpu=h100", ["a"], "nvidia.com/gpu", 8)
    two = kept_off(SELECTOR, "disk=ssd and gpu=h100", ["a"], "nvidia.com/gpu", 8)

    assert " is asked for; 8 GPUs are free on a without it" == one["there"]
    assert " are asked for; 8 GPUs are free on a without them" == two["there"]
