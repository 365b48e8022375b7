"""
Whatever an object holds, it is its own fault: nobody else waits for it.

Every kind that is read is made odd in every field, thousands of times: read as files
are, and through the threads that follow a server.
"""

import logging
from contextlib import suppress
from copy import deepcopy
from random import Random

import pytest

from adapters.files import read_scenario
from adapters.kube.gangs.assemble import snapshot_of
from adapters.kube.gangs.manifests import manifests_of, objects_of
from models.errors import PhalanxError
from tests.adapters.kube.bystanders import (
    BYSTANDERS,
    DIALECTS,
    RESOURCES,
    assert_bystanders_are_well,
    assert_planned_and_told,
    assert_told,
    noting,
)
from tests.adapters.kube.mutated_cluster import Cluster, blocks
from tests.helpers.kube.manifests import NOW
from tests.helpers.kube.mutations import mutated, mutated_bytes, worlds
from tests.helpers.kube.storage_world import storage_world


def read_as_files(number: int, seed: int, folder) -> None:
    """
    Read so many mutated worlds; a fault names the seed that shows it.
    """
    all_worlds = worlds()
    names = sorted(all_worlds)
    for at in range(number):
        chance = Random(f"{seed}-{at}")
        name = chance.choice(names)
        raws = deepcopy(all_worlds[name])
        which = chance.randrange(len(raws))
        raws[which] = mutated(raws[which], chance)
        why = f"{name}, seed {seed}-{at}: {str(raws[which])[:300]}"
        assert_its_own_fault(raws, why, planned=at % 10 == 0)
        if at % 20 == 0:
            read_from_disk(raws, folder / "mutated.json", chance, why)


def assert_its_own_fault(raws, why, *, planned) -> None:
    """
    What is wrong with one object is refused, or leaves those beside it well.
    """
    made = assembled_of_manifests([*raws, *BYSTANDERS], why)
    if made is None:
        return
    assert_bystanders_are_well(made.snapshot, why)
    assert_told(made.snapshot, why)
    if planned:
        assert_planned_and_told(made, why)


def assembled_of_manifests(raws, why):
    """
    Give what is made of manifests; nothing where they are refused.
    """
    with noting(why), suppress(PhalanxError):
        objects = objects_of(manifests_of("test", raws), "test")
        return snapshot_of(objects, DIALECTS, NOW)
    return None


def read_from_disk(raws, path, chance, why) -> None:
    """
    Read the same as a file, bytes that are no text among it.
    """
    items = b",".join(mutated_bytes(raw, chance) for raw in raws)
    path.write_bytes(b'{"apiVersion":"v1","kind":"List","items":[' + items + b"]}")
    with noting(why), suppress(PhalanxError):
        read_scenario(str(path))


@pytest.mark.drawn
def test_a_mutated_object_in_a_file_is_its_own_fault(tmp_path):
    read_as_files(600, 1, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_50_000_mutated_objects_in_files_are_their_own_fault(tmp_path):
    read_as_files(50_000, 2, tmp_path)


def read_each_kind(number: int, seed: int) -> None:
    """
    Read so many mutated objects of each kind: of some there is one among thousands.
    """
    all_worlds = {**worlds(), "storage": storage_world()}
    found: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for name, raws in all_worlds.items():
        for which, raw in enumerate(raws):
            kind = raw["apiVersion"], raw["kind"]
            found.setdefault(kind, []).append((name, which))
    for kind, places in sorted(found.items()):
        for at in range(number):
            chance = Random(f"{seed}-{kind}-{at}")
            name, which = chance.choice(places)
            raws = deepcopy(all_worlds[name])
            raws[which] = mutated(raws[which], chance)
            why = f"{name}, seed {seed}-{kind}-{at}: {str(raws[which])[:300]}"
            assert_its_own_fault(raws, why, planned=at % 10 == 0)


def test_every_kind_that_is_read_has_an_object_that_is_mutated():
    raws = [raw for world in worlds().values() for raw in world]
    kinds = {raw["kind"] for raw in (*raws, *storage_world())}

    assert {resource.kind for resource in RESOURCES} <= kinds


@pytest.mark.drawn
def test_a_mutated_object_of_each_kind_is_its_own_fault():
    read_each_kind(12, 7)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_2_000_mutated_objects_of_each_kind_are_their_own_fault():
    read_each_kind(2_000, 8)


@pytest.fixture
def quiet(caplog):
    """
    Let no log be kept: there would be thousands of lines.
    """
    logger = logging.getLogger("adapters")
    before, logger.disabled = logger.level, False
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(before)


@pytest.mark.drawn
@pytest.mark.usefixtures("quiet")
def test_a_mutated_object_of_a_server_is_its_own_fault():
    """
    What is kept of the last objects depends on which they were, so memory is compared
    after the same ones.
    """
    with Cluster() as cluster:
        before = cluster.source.snapshot()
        for seed in (3, 6, 7):
            cluster.play(4, 50, seed)
        warm = blocks()
        for seed in (6, 7):
            cluster.play(4, 50, seed)

        assert not any(cluster.source.num_passed_by().values())
        assert before == cluster.source.snapshot()
        assert blocks() < warm * 1.01


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("quiet")
def test_50_000_mutated_objects_of_a_server_are_their_own_fault():
    with Cluster() as cluster:
        before = cluster.source.snapshot()
        cluster.play(200, 50, 4)
        warm = blocks()
        cluster.play(800, 50, 5)

        assert before == cluster.source.snapshot()
        assert blocks() < warm * 1.05
