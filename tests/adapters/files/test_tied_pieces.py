"""
Pieces of nodes in files: read, written back, and every mistake told at once.
"""

import pytest

from adapters.files import scenario_of
from adapters.files.writing.snapshot_writer import snapshot_document
from models.errors import InputRejectedError
from models.gangs import pod_sets
from models.resources import GPU
from tests.adapters.documents import scenario

NODE = {
    "name": "n",
    "allocatable": {GPU: 4},
    "used": {GPU: 3},
    "tied": [{GPU: 1}, {GPU: 2}],
}


def document(*running, word="running", **node):
    gang = {"name": "g", "min": 1, "requests": {GPU: 1}, word: list(running)}
    return scenario(nodes=[NODE | node], gangs=[gang])


def problems(found):
    with pytest.raises(InputRejectedError) as caught:
        scenario_of("test", found)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("word", ["running", "terminating"])
def test_pieces_are_read_and_written_back(word):
    given = document({"node": "n", "tied": [1, 0]}, word=word)
    found = scenario_of("test", given).snapshot
    (leaf,) = pod_sets(found.gangs[0].tree)

    assert ({GPU: 1}, {GPU: 2}) == found.nodes[0].tied
    assert (0, 1) == leaf.pods[0].tied
    assert found == scenario_of("test", snapshot_document(found)).snapshot


def test_what_contradicts_itself_is_told():
    (more,) = problems(document(used={GPU: 2}))
    unknown, twice = problems(document({"node": "n", "tied": [2, 1, 1]}))

    assert "3 are tied, and used says 2" in more
    assert "no piece 2 is tied on node n" in unknown
    assert "piece 1 is listed twice" in twice


def test_who_runs_on_a_node_that_is_gone_is_tied_to_nothing_there():
    found = scenario_of("test", document({"node": "gone", "tied": [5]})).snapshot

    assert 3 == found.nodes[0].used[GPU]
