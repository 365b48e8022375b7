"""
Where jobs of a replay ran: the nodes, and how many GPUs each of them has.
"""

from adapters.reports.replay.results import Cluster, NodeModel
from adapters.reports.replay.stays import Stay, nodes_of

CLUSTER = Cluster(nodes=2, gpus=16, classes=(NodeModel(nodes=2, gpus=8),))


def test_two_strategies_each_have_all_gpus_of_a_node():
    runs = [[Stay("n0", 0, 10, 8)], [Stay("n0", 5, 20, 8)]]

    assert {"n0": 8, "unused 1": 8} == nodes_of(runs, CLUSTER)[1]


def test_a_node_that_only_one_strategy_uses_is_as_large_as_what_ran_there():
    runs = [[Stay("n0", 0, 10, 3)], [Stay("n1", 0, 5, 8)]]
    large = Cluster(nodes=3, gpus=24, classes=(NodeModel(nodes=3, gpus=8),))

    assert {"n0": 8, "n1": 8, "unused 1": 8} == nodes_of(runs, large)[1]


def test_nodes_have_the_gpus_that_the_results_tell_by_their_names():
    classes = (NodeModel(nodes=1, gpus=4), NodeModel(nodes=2, gpus=8))
    mixed = Cluster(nodes=3, gpus=20, classes=classes, byName=[*classes[::-1]])
    runs = [[Stay(name, 0, 9, 1) for name in ("n0", "n1", "n2")]]

    assert {"n0": 8, "n1": 8, "n2": 4} == nodes_of(runs, mixed)[1]
