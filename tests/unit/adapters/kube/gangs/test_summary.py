"""
What is said of a cluster before its plan: of other schedulers, and of nobody else.
"""

from adapters.kube.gangs.summary import Summary


def test_pods_of_another_node_pool_are_not_those_of_another_scheduler():
    both = {"phalanx": 2, "volcano": 3}

    assert [] == [*Summary(schedulers=("phalanx",), ignored={"phalanx": 2}).sentences()]
    assert [] == [*Summary(schedulers=("phalanx",), load={"phalanx": 2}).sentences()]
    (said,) = Summary(schedulers=("phalanx",), ignored=both, load=both).sentences()
    assert said == (
        "pods of other schedulers: 3 waiting, which are ignored, 3 on nodes, which are "
        "load; to plan them too: --scheduler-name phalanx --scheduler-name volcano"
    )
