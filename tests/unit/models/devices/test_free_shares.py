"""
What is free of nodes on which pods name their devices.
"""

from dataclasses import replace

import pytest

from models.devices.free_shares import free_shares
from models.resources import GPU, SHARES_PER_GPU
from tests.helpers.build import gang, node
from tests.helpers.rounds.parts import fraction, on, part_gang, sharing


def _whole(gpus, *devices):
    made = gang("whole", requests={GPU: gpus}, running=["n0"])
    (pod,) = made.tree.pods
    pods = (replace(pod, devices=on(*devices)),)
    return replace(made, tree=replace(made.tree, pods=pods))


@pytest.mark.parametrize(
    ("gpus", "known"), [(1, (0,)), (2, (0, 1)), (8, range(8)), (3, (5,))]
)
def test_each_whole_gpu_is_held_once_however_many_devices_are_named(gpus, known):
    free = free_shares([node("n0")], [_whole(gpus, *known)])

    assert [(8 - gpus) * SHARES_PER_GPU] == free


def test_a_part_is_held_beside_whole_gpus():
    part = part_gang("part", fraction(500), ("n0", 2))

    free = free_shares([sharing("n0", 8)], [_whole(2, 0, 1), part])

    assert [11 * SHARES_PER_GPU // 2] == free


def test_a_part_of_which_nobody_knows_the_device_is_in_the_load_of_its_node():
    part = part_gang("part", fraction(500), ("n0", 2))
    pods = tuple(replace(pod, devices=()) for pod in part.tree.pods)
    unknown = replace(part, tree=replace(part.tree, pods=pods))
    full = replace(sharing("n0", 8), used={GPU: 1})

    assert [7 * SHARES_PER_GPU] == free_shares([full], [unknown])
