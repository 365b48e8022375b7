"""
JSON and YAML, several files, and the order of what they hold.
"""

import json
from random import Random
from time import process_time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.files import read_scenario, read_scenarios, scenario_of
from models.gangs import pod_sets
from models.snapshot import content_hash
from tests.adapters.documents import everything, large, scenario


def test_json_and_yaml_say_the_same(tmp_path):
    document = everything()
    (tmp_path / "a.json").write_text(json.dumps(document))
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(document))

    one = read_scenario(str(tmp_path / "a.json"))
    two = read_scenario(str(tmp_path / "a.yaml"))

    assert one.snapshot == two.snapshot
    assert one.policy == two.policy
    assert one.expect == two.expect


def test_yaml_anchors_repeat_what_they_name(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(
        "apiVersion: phalanx/v1\n"
        "kind: Snapshot\n"
        "given:\n"
        "  gangs:\n"
        "    - {name: a, min: 1, requests: &r {nvidia.com/gpu: 1}}\n"
        "    - {name: b, min: 1, requests: *r}\n"
    )

    a, b = read_scenario(str(path)).snapshot.gangs

    assert next(pod_sets(a.tree)).requests == next(pod_sets(b.tree)).requests


def test_yaml_keys_are_always_text(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(
        "apiVersion: phalanx/v1\n"
        "kind: Scenario\n"
        "given:\n"
        "  nodes: [{name: n, allocatable: {cpu: 1}, labels: {on: off-duty, 1: x}}]\n"
        "  gangs: [{name: a, min: 1}]\n"
        "expect:\n"
        "  on: {a-0: n}\n"
    )

    found = read_scenario(str(path))

    assert {"on", "1"} <= found.snapshot.nodes[0].labels.keys()
    assert found.expect is not None
    assert {"a-0": "n"} == found.expect.on


def test_several_files_are_parts_of_one_snapshot(tmp_path):
    whole = everything()
    nodes, rest = scenario(gangs=[]), everything()
    nodes["given"] = {"nodes": rest["given"].pop("nodes")}
    (tmp_path / "nodes.json").write_text(json.dumps(nodes))
    (tmp_path / "rest.json").write_text(json.dumps(rest))

    found = read_scenarios([str(tmp_path / "nodes.json"), str(tmp_path / "rest.json")])

    assert scenario_of("test", whole).snapshot == found.snapshot
    assert scenario_of("test", whole).policy == found.policy


@given(st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_the_order_of_a_file_does_not_matter(chance):
    document = everything()

    found = scenario_of("test", shuffled(document, chance)).snapshot

    assert scenario_of("test", document).snapshot == found
    assert content_hash(scenario_of("test", document).snapshot) == content_hash(found)


def shuffled(value, chance: Random, key: str = ""):
    if isinstance(value, dict):
        pairs = list(value.items())
        chance.shuffle(pairs)
        return {k: shuffled(v, chance, k) for k, v in pairs}
    if isinstance(value, list):
        items = [shuffled(v, chance) for v in value]
        if key not in {"levels", "groups", "running", "terminating", "tiers"}:
            chance.shuffle(items)
        return items
    return value


@pytest.mark.slow
def test_a_huge_file_takes_less_time_to_read_than_libyaml_takes_for_its_text(tmp_path):
    document = large(10_000, 6_000, 26_000)
    text = yaml.dump(document, Dumper=yaml.CSafeDumper)
    (tmp_path / "large.yaml").write_text(text)
    (tmp_path / "large.json").write_text(json.dumps(document))

    _, alone = _timed(lambda: yaml.load(text, Loader=yaml.CSafeLoader))
    one, as_yaml = _timed(lambda: read_scenario(str(tmp_path / "large.yaml")))
    two, as_json = _timed(lambda: read_scenario(str(tmp_path / "large.json")))

    assert one.snapshot == two.snapshot
    assert (10_000, 32_000) == (len(one.snapshot.nodes), len(one.snapshot.gangs))
    assert as_yaml <= alone
    assert as_json <= 0.6 * alone


def _timed(work):
    """
    Give what something comes to, and how much processor time it takes.
    """
    start = process_time()
    found = work()
    return found, process_time() - start
