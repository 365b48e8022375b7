"""
A small cluster that is busy, and a record of rounds.
"""

import json

import pytest

from adapters.observe.round_file import RoundFile
from adapters.observe.round_record import head_of, record_of
from models.policy import Policy
from tests.adapters.documents import scenario
from tests.adapters.lists.listed import GPU
from tests.adapters.loop.test_rounds import turned


@pytest.fixture
def busy(tmp_path):
    """
    A file with a gang that runs, one that lacks pods, one that is too big.
    """
    running = {"node": "n-0", "pods": 2, "for": "1h"}
    document = scenario(
        nodes=[
            {"name": "n", "count": 2, "allocatable": {GPU: 8}, "labels": {"rack": "a"}},
            {"name": "old", "allocatable": {GPU: 4}, "unschedulable": True},
        ],
        queues=[
            {"name": "research", "resources": {GPU: {"quota": 8, "limit": 12}}},
            {"name": "batch", "resources": {GPU: {"quota": 4}}},
        ],
        gangs=[
            {
                "name": "train",
                "queue": "research",
                "min": 2,
                "age": "2h",
                "requests": {GPU: 3},
                "running": [running],
            },
            {
                "name": "short",
                "namespace": "other",
                "queue": "batch",
                "min": 3,
                "created": 1,
                "age": "5m",
                "requests": {GPU: 1},
            },
            {"name": "giant", "queue": "batch", "min": 1, "requests": {GPU: 64}},
        ],
    )
    path = tmp_path / "busy.json"
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "rounds.jsonl"
    file = RoundFile(path)
    file.append(head_of("r0", 1_793_519_000.0, "rejected", "it broke 1 rule"))
    file.append(record_of(turned(), Policy(), "done"))
    return path
