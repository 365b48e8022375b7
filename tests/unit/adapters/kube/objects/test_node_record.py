"""
Raw nodes to records.
"""

import pytest

from adapters.kube.objects.node_record import node_record
from models.nodes import HOSTNAME
from tests.helpers.kube.manifests import GPU, node


def test_a_node_offers_what_is_allocatable():
    raw = node(gpus=4)
    raw["status"]["capacity"] = {"cpu": "96"}

    expected = {"cpu": 64000, "memory": 256 * 2**30, GPU: 4, "pods": 110}
    assert expected == node_record(raw).node.allocatable


def test_capacity_stands_where_nothing_is_said_to_be_allocatable():
    raw = {"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "3900m"}}}

    assert 3900 == node_record(raw).node.allocatable["cpu"]


def test_every_node_has_a_host_name_of_its_own():
    assert "n" == node_record(node("n")).node.labels[HOSTNAME]
    own = node("n", labels={HOSTNAME: "ip-10"})

    assert "ip-10" == node_record(own).node.labels[HOSTNAME]


READY = {"True": False, "False": True, "Unknown": True}


@pytest.mark.parametrize("word", READY)
def test_nothing_new_goes_to_a_node_that_is_not_ready(word):
    raw = node(conditions=[{"type": "Ready", "status": word}])

    assert READY[word] == node_record(raw).node.unschedulable


def test_a_cordoned_node_and_one_that_is_deleted_take_nothing_new():
    leaving = node()
    leaving["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z"

    assert not node_record(node()).node.unschedulable
    assert node_record(node(unschedulable=True)).node.unschedulable
    assert node_record(leaving).node.unschedulable


def test_an_amount_that_cannot_be_read_is_not_offered():
    raw = node()
    raw["status"]["allocatable"]["memory"] = "lots"
    record = node_record(raw)

    assert 0 == record.node.allocatable["memory"]
    assert 64000 == record.node.allocatable["cpu"]
    assert "status.allocatable.memory: 'lots'" in record.invalid[0]


def test_a_node_with_taints_that_cannot_be_read_takes_nothing_new():
    record = node_record(node(taints=[{"key": 5}]))

    assert record.node.unschedulable
    assert "spec.taints[0].key" in record.invalid[0]
