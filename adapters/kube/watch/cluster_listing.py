"""
What a cluster shows to people: its snapshot, and what was said of its gangs.
"""

from collections import Counter
from collections.abc import Mapping

from adapters.inventory.listed import Seen, Why, certain_whys
from adapters.inventory.told_whys import why_said
from adapters.kube.dialects.protocol import Claim
from adapters.kube.objects.fields import FieldError, mapping, texts
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.watch.source import ClusterSource
from models.gangs import Gang, pod_sets
from models.policy import Policy


def seen_in(source: ClusterSource, policy: Policy, server: str) -> Seen:
    """
    Look at a cluster: of each gang that waits, what its pods say, else what is certain.

    Raises
    ------
    SnapshotRefusedError
        When a resource is not read yet or too far behind.
    """
    made = source.assembled()
    pods = {} if source.view is None else {pod.key: pod for pod in source.view.pods}
    snapshot = made.snapshot
    whys = certain_whys(snapshot, policy)
    starts: dict[str, str] = {}
    labels: dict[str, Mapping[str, str]] = {}
    for gang in snapshot.gangs:
        mine = _pods_of(gang, pods)
        said = _said(mine)
        if said is not None:
            whys[gang.key], starts[gang.key] = said
        labels[gang.key] = _labels(made.claims.get(gang.key), mine)
    return Seen(
        snapshot=snapshot,
        policy=policy,
        source=server,
        whys=whys,
        starts={key: start for key, start in starts.items() if start},
        whys_from="as the pods say, else what holds whatever is planned",
        labels=labels,
        dialects={key: claim.dialect for key, claim in made.claims.items()},
    )


def _pods_of(gang: Gang, pods: Mapping[str, PodRecord]) -> list[PodRecord]:
    keys = (
        f"{gang.namespace}/{pod.name}"
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    )
    return [pods[key] for key in keys if key in pods]


def _said(pods: list[PodRecord]) -> tuple[Why, str] | None:
    """
    Give what most of a gang's pods without a node say, and when it starts.
    """
    said = Counter(pod.said for pod in pods if pod.said and pod.node is None)
    return next(
        (why for text, _ in said.most_common() if (why := why_said(text))), None
    )


def _labels(claim: Claim | None, pods: list[PodRecord]) -> Mapping[str, str]:
    """
    Give the labels that all pods of a gang share, and those of its own object.
    """
    shared = (
        set.intersection(*(set(pod.labels.items()) for pod in pods)) if pods else ()
    )
    try:
        own = texts(mapping(claim.source or {}, "metadata"), "labels") if claim else {}
    except FieldError:
        own = {}
    return dict(sorted(shared)) | own
