"""
Elastic quotas of Koordinator as queues, and whose pods they are for.
"""

import pytest

from adapters.kube.dialects.coscheduling.koordinator import DIALECT
from models.queues import QueueResource
from tests.unit.adapters.kube.dialects.family import (
    GANG,
    QUOTA,
    claim,
    objects,
    pod,
    quota,
    why,
)


def queues(*raws):
    return {queue.name: queue for queue in DIALECT.queues(objects(*raws), [])}


def test_without_quotas_there_are_no_queues():
    assert {} == queues()


def test_min_max_and_weight_of_a_quota():
    found = queues(
        quota("a", min={"cpu": "4"}, max={"cpu": "10"}),
        quota("b", max={"cpu": "5", "nvidia.com/gpu": "8"}),
        quota("c", min={"cpu": "1"}, max={}, notes={"shared-weight": '{"cpu": "20"}'}),
    )

    assert {"a", "b", "c", "koordinator-default-quota"} == set(found)
    rules = {name: found[name].resources["cpu"] for name in "abc"}
    assert QueueResource(quota=4000, limit=10000, weight=2) == rules["a"]
    assert QueueResource(quota=0, limit=5000, weight=1) == rules["b"]
    assert QueueResource(quota=1000, limit=None, weight=4) == rules["c"]


def test_a_quota_lies_below_its_parent():
    found = queues(
        quota("top", labels={"is-parent": "true"}),
        quota("leaf", labels={"parent": "top"}),
        quota("other", labels={"parent": "koordinator-root-quota"}),
        quota("koordinator-root-quota"),
    )

    assert "top" == found["leaf"].parent
    assert found["other"].parent is None
    assert "koordinator-root-quota" not in found


def test_a_quota_that_cannot_be_read_is_closed():
    assert not queues(quota("a", min={"cpu": "lots"}))["a"].open
    assert not queues(quota("a", notes={"shared-weight": "["}))["a"].open


def test_where_one_number_of_gpus_is_not_whole_all_count_parts():
    found = queues(
        quota("a", min={"nvidia.com/gpu": "1500m"}, max={"nvidia.com/gpu": "2.5"}),
        quota("b", max={"nvidia.com/gpu": "4"}),
        quota("c", max={"nvidia.com/gpu": "0.0001"}),
    )
    a, b = (dict(found[name].resources) for name in "ab")

    assert {"gpu-share": QueueResource(quota=10_500, limit=17_500, weight=5)} == a
    assert {"gpu-share": QueueResource(quota=0, limit=28_000, weight=8)} == b
    assert not found["c"].open


def test_a_quota_without_end_bounds_nothing():
    found = queues(quota("a", max={"cpu": "9223372036854775807"}))

    assert {} == found["a"].resources


def queue_of(raws, **labels):
    said = {f"{QUOTA}/{key}": value for key, value in labels.items()}
    notes = {f"{GANG}/name": "g", f"{GANG}/min-available": "1"}
    return claim(DIALECT, [pod(labels=said, notes=notes)], raws)


def test_the_queue_of_a_gang_is_its_pods_quota():
    a, mapped = quota("a"), quota("b", notes={"namespaces": '["default"]'})

    assert queue_of([]).queue is None
    assert "koordinator-default-quota" == queue_of([a]).queue
    assert "b" == queue_of([a, mapped]).queue
    assert "a" == queue_of([a, mapped], name="a").queue


def test_pods_of_two_quotas_are_a_conflict():
    notes = {f"{GANG}/name": "g", f"{GANG}/min-available": "1"}
    pods = [pod(n, {f"{QUOTA}/name": n}, notes) for n in "ab"]

    assert why(claim(DIALECT, pods, [quota("a"), quota("b")])).startswith(
        "ConfigConflict"
    )


def test_a_pod_may_say_that_it_is_not_preemptible():
    assert queue_of([]).preemptible is None
    assert queue_of([], preemptible="false").preemptible is False


@pytest.mark.parametrize(("said", "kept"), [("false", 4), ("true", 0), ("no", 0)])
def test_a_quota_that_lends_nothing_keeps_its_min(said, kept):
    raw = quota("a", min={"cpu": "4"}, labels={"allow-lent-resource": said})

    assert queues(raw)["a"].rule("cpu").kept == 1000 * kept
