"""
The label of KAI's node pools on pods that no group object gathers.
"""

from models.gangs import pod_sets
from models.why.reasons import Reason
from tests.helpers.kube.manifests import assembled, gang_of, node, pod

POOL = "kai.scheduler/node-pool"


def test_a_pod_without_a_group_demands_the_nodes_of_its_pool():
    gang = gang_of(pod(labels={POOL: "a"}))

    assert [((POOL, "a"),)] == [leaf.demand.selector for leaf in pod_sets(gang.tree)]


def test_pods_of_one_owner_in_several_pools_are_a_conflict():
    job = ("batch/v1", "Job", "train")
    pods = [pod(f"train-{x}", owner=job, labels={POOL: x}) for x in "ab"]
    (gang,) = assembled(*pods, node()).snapshot.gangs

    assert gang.refused is not None
    assert Reason.CONFIG_CONFLICT == gang.refused.reason
    assert "its pods name the node pools a, b" in gang.refused.message
