"""
Pods and their claims of volumes, as Kubernetes' objects.

What starts, and where, beside all that could start by the rules of kube-scheduler.
"""

import json
from functools import cache

import pytest

from adapters.files import read_scenario, scenario_of
from adapters.files.writing.snapshot_writer import snapshot_document
from adapters.kube.acting.pod_claims import PodClaims
from adapters.kube.acting.volume_choice import VolumeChoice
from adapters.kube.api.connect import connect
from adapters.kube.api.paths import path_of, version_of
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.kinds import CLAIMS, STORAGE, VOLUMES, resources_of
from adapters.kube.objects.node_record import node_record
from adapters.kube.objects.pod_reader import pod_record
from adapters.kube.watch.cache import Cache
from adapters.kube.watch.source import ClusterSource
from models.memory.aged_gangs import still
from models.policy import Evict, Policy
from solver.round import decide
from solver.verify import verify
from tests.adapters.kube.api_server import NODES, PODS, ApiServer, key_of
from tests.adapters.kube.following import QUICK, TIMEOUTS, kubeconfig
from tests.helpers.eventually import eventually
from tests.helpers.kube.claimed_world import MADE, drawn
from tests.helpers.kube.manifests import NOW, assembled
from tests.helpers.rounds.drawn import of_day
from tests.helpers.truth.claims_by_hand import ByHand, mounted

CALM = Policy(evict=Evict(preempt=False, reclaim=False, consolidate=False, stale=False))
SEEDS = range(800)


@cache
def by_hand(seed):
    return ByHand(drawn(seed))


@pytest.mark.drawn
@pytest.mark.parametrize("strategy", ["solver", "greedy"])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_starts_may_be_where_it_is_with_all_its_claims(seed, strategy, tmp_path):
    hand = by_hand(seed)
    snapshot = read_from_file(hand.world, tmp_path)
    plan = decide(snapshot, CALM, strategy=strategy)
    places = places_of(plan)

    assert () == verify(snapshot, CALM, plan)
    assert all(map(hand.is_ready, places))
    assert hand.is_legal(places)
    assert len(places) == num_pods(hand.world, started(hand.world, places))


@pytest.mark.parametrize("seed", [706, 733, *range(40)])
def test_what_was_read_can_be_saved_and_read_again(seed, tmp_path):
    seen = snapshot_document(read_from_file(drawn(seed), tmp_path))

    assert seen == snapshot_document(scenario_of("saved", seen).snapshot)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", SEEDS)
def test_no_more_pods_could_start_than_do(seed):
    hand = by_hand(seed)
    plan = decide(assembled(*hand.world.objects()).snapshot, CALM)
    most = max((num_pods(hand.world, some) for some in hand.startable()), default=0)

    assert "optimal" == plan.status
    assert len(places_of(plan)) == most


@pytest.mark.drawn
@pytest.mark.parametrize("seed", SEEDS)
def test_each_claim_gets_a_volume_that_it_may_have_where_its_pods_are(seed):
    hand = by_hand(seed)
    plan = decide(assembled(*hand.world.objects()).snapshot, CALM)
    places = places_of(plan)
    cache = held(hand.world)
    choice = VolumeChoice(cache, PodClaims(cache))
    choice.turn([step for step in plan.operations if step.op == "Bind"], ())
    names = {name for pod in places for name in mounted(hand.pods[pod])}
    given = {x: choice.of(f"default/{x}") or MADE for x in names if hand.is_open(x)}
    there = [one for one in hand.given(places) if given.items() <= one.items()]

    assert there
    assert num_made(given) == min(map(num_made, hand.given(places)))


def test_one_server_with_many_clusters_in_turn_is_read_as_files_are(tmp_path):
    with ApiServer(*resources_of(dialects())) as server:
        transport = connect(kubeconfig(tmp_path, server.url), timeouts=TIMEOUTS)
        source = ClusterSource(transport, dialects(), pace=QUICK, now=lambda: NOW)
        source.start()
        assert source.wait(20)
        for seed in of_day(range(60)):
            world = drawn(seed)
            stand(server, world)
            eventually(lambda: is_heard(server, source))
            found, alone = source.snapshot(), assembled(*world.objects()).snapshot

            assert tuple(found.nodes) == tuple(alone.nodes), seed
            assert still(found.gangs) == still(alone.gangs), seed
        source.stop()


def stand(server, world):
    """
    Let the objects of a cluster take the place of all others.
    """
    kinds = {
        (version_of(kind.resource), kind.resource.kind): kind
        for kind in server.kinds.values()
    }
    raws = list(world.objects())
    names = {(raw["kind"], key_of(raw)) for raw in raws}
    for kind in kinds.values():
        for key in list(kind.objects):
            if (kind.resource.kind, key) not in names:
                server.delete(kind.resource, key)
    for raw in raws:
        server.put(kinds[raw["apiVersion"], raw["kind"]].resource, raw)


def is_heard(server, source):
    """
    Tell whether all that a server has was heard of, and nothing else.
    """
    for resource in resources_of(dialects()):
        there = server.kinds[path_of(resource)].objects
        shelf = source.cache.shelf(resource)
        if dict(shelf.records).keys() != there.keys():
            return False
        for key, raw in there.items():
            if (shelf.number(key) or 0) < int(raw["metadata"]["resourceVersion"]):
                return False
    return True


def read_from_file(world, folder):
    listed = {"apiVersion": "v1", "kind": "List", "items": list(world.objects())}
    (folder / "cluster.json").write_text(json.dumps(listed), encoding="utf-8")
    return read_scenario(str(folder / "cluster.json")).snapshot


def places_of(plan):
    return {
        step.pod.partition("/")[2]: step.node
        for step in plan.operations
        if step.op == "Bind"
    }


def started(world, places):
    return [
        name
        for name, pods in world.gangs.items()
        if all(raw["metadata"]["name"] in places for raw in pods)
    ]


def num_made(given):
    return sum(volume == MADE for volume in given.values())


def num_pods(world, gangs):
    return sum(len(world.gangs[name]) for name in gangs)


def held(world):
    """
    Hold the objects of a cluster as who binds sees them.
    """
    kinds = {kind.kind: kind for kind in (CLAIMS, VOLUMES, *STORAGE)}
    cache = Cache([PODS, NODES, *kinds.values()])
    for raw in (*world.claims, *world.volumes, *world.classes, *world.limits):
        cache.shelf(kinds[raw["kind"]]).put(key_of(raw), 1, raw, "1")
    for raw in world.nodes:
        cache.shelf(NODES).put(key_of(raw), 1, node_record(raw), "1")
    for raw in world.waiting.values():
        cache.shelf(PODS).put(key_of(raw), 1, pod_record(raw), "1")
    return cache
