"""
scheduler-plugins: each documented word changes the claim, the reason or a warning.
"""

import pytest

from adapters.kube.dialects.coscheduling.plugin import DIALECT, Coscheduling
from models.gangs import MatchPolicy
from models.queues import QueueResource
from models.why.reasons import Reason
from tests.unit.adapters.kube.dialects.family import (
    LABEL,
    PLUGIN,
    SIGS,
    X_K8S,
    claim,
    claims,
    dialect,
    group,
    objects,
    pod,
    quota,
    standing,
    why,
)

MEMBER = pod(labels={PLUGIN: "g"})


def test_both_systems_are_registered():
    assert {"ack", "coscheduling"} <= {dialect(n).name for n in ("ack", "coscheduling")}


def test_a_label_names_a_podgroup_of_the_namespace():
    assert "default/g" == DIALECT.membership(MEMBER).gang
    assert DIALECT.membership(pod()) is None


def read(**spec):
    return claim(DIALECT, [MEMBER], [group(api=X_K8S, **spec)])


def test_a_podgroup_is_a_gang():
    made = read(minMember=3)

    assert "coscheduling" == made.dialect
    assert 3 == made.tree.minimum
    assert MatchPolicy.WAITING_AND_RUNNING == made.match_policy
    assert 60 == made.waiting_time


def test_the_timeout_is_the_waiting_time():
    assert 10 == read(minMember=1, scheduleTimeoutSeconds=10).waiting_time


@pytest.mark.parametrize("timeout", [0, -5])
def test_a_timeout_of_nothing_is_the_default(timeout):
    made = read(minMember=1, scheduleTimeoutSeconds=timeout)

    assert 60 == made.waiting_time
    assert "scheduleTimeoutSeconds" in made.warnings[0]


@pytest.mark.parametrize("minimum", [0, -1, "3", 1.5])
def test_a_minimum_below_one_is_invalid(minimum):
    assert "spec.minMember" in why(read(minMember=minimum))


def test_a_minimum_must_be_said():
    assert "spec.minMember" in why(read())


def test_min_resources_are_a_gate():
    assert {} == read(minMember=1).min_resources
    asked = {"cpu": "10", "nvidia.com/gpu": 8}

    assert {"cpu": 10_000, "nvidia.com/gpu": 8} == read(
        minMember=1, minResources=asked
    ).min_resources


def test_bad_min_resources_are_invalid():
    assert "spec.minResources.cpu" in why(read(minMember=1, minResources={"cpu": "x"}))
    ours = {"gpu-part/x": 1}
    assert "of its own by this name" in why(read(minMember=1, minResources=ours))


@pytest.mark.parametrize("field", ["spec", "metadata"])
def test_fields_of_a_wrong_kind_are_invalid(field):
    raw = group(api=X_K8S, minMember=1)
    raw["spec"] = [] if field == "spec" else raw["spec"]
    if field == "metadata":
        raw["metadata"]["annotations"] = {"a": 1}

    assert field in why(claim(DIALECT, [MEMBER], [raw]))


def test_a_podgroup_that_does_not_exist_is_waited_for():
    assert why(claim(DIALECT, [MEMBER])).startswith("WaitingForGroup")


def test_a_podgroup_of_the_other_api_is_not_the_one_that_is_named():
    (lost,) = claims(DIALECT, [MEMBER], [group(api=SIGS, minMember=1)])

    assert why(lost).startswith("WaitingForGroup")


def test_a_podgroup_without_pods_is_a_gang_of_one_system():
    raw = group(api=X_K8S, minMember=2)

    assert claim(DIALECT, raws=[raw]).refused is None
    assert [] == claims(dialect("ack"), raws=[raw])


def test_a_pod_that_names_two_gangs_stops_the_first():
    torn = pod(labels={PLUGIN: "g", LABEL: "h"})
    made = claim(DIALECT, [torn], [group(api=X_K8S, minMember=1)])

    assert why(made).startswith("ConfigConflict")
    assert f"label {LABEL}" in why(made)


def test_a_bad_name_is_invalid():
    raw = group("G_1", api=X_K8S, minMember=1)

    assert "metadata.name" in why(claim(DIALECT, raws=[raw]))


def test_a_podgroup_without_a_name_is_nobodys():
    raw = group(api=X_K8S, minMember=1)
    del raw["metadata"]["name"]

    assert [] == claims(DIALECT, raws=[raw])


# --- quotas -------------------------------------------------------------------


def queues(*raws):
    return {queue.name: queue for queue in DIALECT.queues(objects(*raws), [])}


ONE = quota("q", X_K8S, namespace="default", min={"cpu": "4"}, max={"cpu": "6"})
TWO = quota("q", X_K8S, namespace="b", min={"cpu": "2"})


def test_quotas_of_namespaces_lie_below_the_sum_of_their_minimums():
    found = queues(ONE, TWO)

    assert {"default", "elastic-quotas", "default.q", "b.q"} == set(found)
    top = QueueResource(quota=6000, limit=6000)
    assert top == found["elastic-quotas"].resources["cpu"]
    assert QueueResource(quota=4000, limit=6000) == found["default.q"].resources["cpu"]
    assert QueueResource(quota=2000, limit=None) == found["b.q"].resources["cpu"]
    assert "elastic-quotas" == found["b.q"].parent
    assert {} == found["default"].resources


def test_without_quotas_there_are_no_queues():
    assert {} == queues()


def test_the_queue_of_a_gang_is_its_namespaces_quota():
    raws = [group(api=X_K8S, minMember=1)]

    assert claim(DIALECT, [MEMBER], raws).queue is None
    assert "default.q" == claim(DIALECT, [MEMBER], [*raws, ONE, TWO]).queue
    assert "default" == claim(DIALECT, [MEMBER], [*raws, TWO]).queue


# --- answers ------------------------------------------------------------------


def answers(reader=DIALECT, *, status=None, **fields):
    raw = group(api=X_K8S, minMember=3, status=status)
    read = claim(DIALECT, [MEMBER], [raw])
    return list(reader.answer(read, standing(minimum=3, **fields)))


@pytest.mark.parametrize(
    ("reason", "facts", "words"),
    [
        (
            Reason.WAITING_FOR_PODS,
            {"needs": 3, "have": 1},
            "sibling pods, current pods number: 1, minMember of group: 3",
        ),
        (
            Reason.INSUFFICIENT_CAPACITY,
            {"resource": "cpu", "needs": 4000, "free": 1500},
            "resource gap: cpu 2500m",
        ),
        (Reason.FRAGMENTED, {}, "PodGroup g gets rejected: why"),
    ],
)
def test_reasons_in_its_own_words(reason, facts, words):
    kept, told = answers(reason=reason, facts=facts, message="why")

    assert words in told.event[2]
    assert words in kept.patch["metadata"]["annotations"]["phalanx/waiting"]


def test_its_controller_owns_the_status():
    assert [] == answers(state="Running", running=3, total=3)


@pytest.mark.parametrize(
    ("counts", "phase"),
    [
        ({"total": 2}, "Pending"),
        ({"total": 3}, "Scheduling"),
        ({"total": 3, "binding": 3}, "Scheduling"),
        ({"total": 3, "running": 2, "succeeded": 1}, "Running"),
        ({"total": 3, "running": 2, "failed": 1}, "Failed"),
        ({"total": 3, "succeeded": 3}, "Finished"),
    ],
)
def test_phases_where_no_controller_is(counts, phase):
    owner = Coscheduling(owns_status=True)
    first, *_ = answers(owner, state="Running", **counts)

    assert phase == first.patch["status"]["phase"]
    assert "scheduled" not in first.patch["status"]
    begun = phase == "Scheduling"
    assert begun == ("scheduleStartTime" in first.patch["status"])


def test_a_status_that_is_right_is_not_written():
    owner = Coscheduling(owns_status=True)
    status = {"phase": "Running", "running": 3, "succeeded": 0, "failed": 0}

    assert [] == answers(owner, status=status, state="Running", running=3, total=3)
