"""
The snapshot read from a server is that of the manifests it was given.
"""

from copy import deepcopy
from dataclasses import replace

import pytest

from adapters.kube.api.connect import connect
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import snapshot_of
from adapters.kube.watch.source import ClusterSource
from models.gangs import Gang, Group, Tree
from models.snapshot import Snapshot
from tests.cluster.manifests import manifests
from tests.cluster.test_reflector import PACE
from tests.helpers.eventually import eventually

pytestmark = pytest.mark.cluster
NOW = 1_900_000_000.0


def test_the_snapshot_of_the_server_is_that_of_the_manifests(fresh):
    for raw in manifests():
        fresh.apply(deepcopy(raw))
    source = ClusterSource(
        connect(fresh.plane.kubeconfig("admin")),
        dialects(),
        pace=PACE,
        now=lambda: NOW,
    )
    source.start()
    try:
        assert source.wait(30)
        eventually(lambda: len(source.snapshot().nodes) == 4)
        snapshot = source.snapshot()
    finally:
        source.stop()
    wanted = snapshot_of(objects_of(manifests()), dialects(), NOW).snapshot
    spaces = {gang.namespace for gang in wanted.gangs}
    served = replace(
        snapshot, gangs=tuple(g for g in snapshot.gangs if g.namespace in spaces)
    )

    assert len(wanted.gangs) > 6
    assert timeless(wanted) == timeless(served)


def objects_of(raws: list[dict]) -> Objects:
    """
    Sort manifests by kind, as a reader of files does.
    """
    by_kind: dict[tuple[str, str], list[dict]] = {}
    for raw in raws:
        group = raw["apiVersion"].rpartition("/")[0]
        by_kind.setdefault((group, raw["kind"]), []).append(raw)
    return Objects(by_kind={kind: tuple(found) for kind, found in by_kind.items()})


def timeless(snapshot: Snapshot) -> Snapshot:
    """
    Leave out what only a server gives: uids, and the time since it made an object.
    """
    return replace(snapshot, gangs=tuple(_gang(gang) for gang in snapshot.gangs))


def _gang(gang: Gang) -> Gang:
    return replace(gang, age=0, tree=_tree(gang.tree))


def _tree(tree: Tree) -> Tree:
    if isinstance(tree, Group):
        return replace(tree, children=tuple(_tree(child) for child in tree.children))
    pods = tuple(replace(pod, uid=None, seconds=0) for pod in tree.pods)
    return replace(tree, pods=pods)
