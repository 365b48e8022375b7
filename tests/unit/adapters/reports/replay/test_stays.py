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
