"""
``phalanx describe``: one gang, queue, node or round on one screen.
"""

import json

import pytest

from tests.adapters.commands.command import phalanx
from tests.adapters.lists.listed import GPU, table


def test_describe_shows_a_gang_on_one_screen(busy, capsys):
    shown = table(capsys, "describe", "gang", "train", "-f", busy)

    assert "Pods         2 running; needs 2 of 2" in shown
    assert "n-0   2 running" in shown
    assert len(shown) < 25


def test_describe_says_of_a_gang_that_could_start_that_it_does(capsys):
    file = "scenarios/demo/fragmented.yaml"
    starts = table(capsys, "describe", "gang", "eval-sweep", "-f", file)
    waits = table(capsys, "describe", "gang", "agent-rl", "-f", file)

    assert "Starts       in this round" in starts
    assert not [line for line in waits if line.startswith("Starts ")]
    assert [line for line in waits if line.startswith("Waits for ")]


@pytest.mark.parametrize(
    ("file", "name", "asks"),
    [
        ("nodes/a-port-of-a-host-is-used-once", "wide", "3 host ports 29500/TCP"),
        ("claims/a-rule-taints-devices", "late", "1 device of class gpu by claim"),
    ],
)
def test_describe_says_in_words_what_is_asked_for(file, name, asks, capsys):
    shown = table(capsys, "describe", "gang", name, "-f", f"scenarios/{file}.yaml")

    assert asks in next(line for line in shown if line.startswith("Asks for"))


def test_describe_gives_a_gang_as_files_write_it(busy, capsys):
    assert 0 == phalanx("describe", "gang", "other/short", "-f", busy, "-o", "json")
    document = json.loads(capsys.readouterr().out)

    assert ("Gang", 3, 1) == (
        document["kind"],
        document["spec"]["min"],
        document["spec"]["created"],
    )


def test_describe_shows_a_queue_and_a_node(busy, capsys):
    queue = table(capsys, "describe", "queue", "research", "-f", busy)
    node = table(capsys, "describe", "node", "n-0", "-f", busy)

    assert f"{GPU}     6      6         0      8     0     12       1" in queue
    assert any(line.startswith("default/train") for line in queue)
    assert "nvidia.com/gpu    8          6           0     2" in node
    assert "default/train     2" in node


def test_describe_shows_what_a_round_decided(recorded, capsys):
    shown = "\n".join(table(capsys, "describe", "round", "--rounds", recorded))

    assert "Round        r1" in shown
    assert "Plan         greedy, feasible" in shown
    assert "2 pods bound with 8 GPUs" in shown
    assert "default/waits" in shown


def test_describe_shows_a_round_that_came_to_nothing(recorded, capsys):
    shown = table(capsys, "describe", "round", "r0", "--rounds", recorded)

    assert "Outcome      rejected: it broke 1 rule" in shown
