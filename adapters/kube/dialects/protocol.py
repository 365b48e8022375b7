"""
The seam of the dialects: what one reads from raw objects, and what it says of them.

A dialect turns group objects, labels and annotations into claims; the assembly makes
gangs of claims, by the precedence of ``dialects/table.py``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.dialects.memo import DialectMemo
from adapters.kube.objects.pod_record import PodRecord
from models.gangs import MatchPolicy
from models.queues import Queue
from models.resources import Resources
from models.topology import Topology, TopologyDemand
from models.why.reasons import Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    """
    All raw objects of one cluster or of some manifests, by (API group, kind).

    ``unread`` counts those among the manifests that are known and not read, by kind.
    ``memo`` is what is kept of them; what is read is the same with an empty one.
    """

    by_kind: Mapping[tuple[str, str], tuple[Raw, ...]] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)
    memo: DialectMemo = field(default_factory=DialectMemo, compare=False, repr=False)

    def of(self, group: str, kind: str) -> tuple[Raw, ...]:
        """
        List the objects of a kind; none where it is not installed.
        """
        return self.by_kind.get((group, kind), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """
    A node of a gang's tree as its source says it: a leaf, or an inner node with parts.

    A leaf takes the pods whose membership names its path.  ``minimum`` none is all the
    pods there are; ``replicas`` none is as many as exist.
    """

    name: str = ""
    minimum: int | None = None
    replicas: int | None = None
    after: tuple[str, ...] = ()
    parts: tuple["Part", ...] = ()
    min_groups: int | None = None
    min_pods: int | None = None
    topology: TopologyDemand | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """
    What one source says of one gang; fields it does not know stay unset.

    ``source`` is the raw object it was read from, none when annotations said it.
    ``refused`` says that it cannot be obeyed; ``warnings`` are said once to the user.
    ``placed`` gives leaves to pods by key: they are this gang's, in this leaf, whatever
    their membership says.  ``others`` are further objects that carry its answer.
    ``created`` and ``stale_since`` are times, in seconds since the epoch.  ``over``
    says that without pods there is nothing to wait for: it has ended, or needs none.
    ``silent`` says that its pods are not told why they have no node.  ``nodes`` are
    labels that every node of its pods must have.
    """

    key: str
    dialect: str
    tree: Part = field(default_factory=Part)
    queue: str | None = None
    priority: int | None = None
    priority_class: str | None = None
    preemptible: bool | None = None
    created: float | None = None
    mates: tuple[str, ...] = ()
    match_policy: MatchPolicy | None = None
    mode: str = "Strict"
    once_satisfied: bool = False
    timed_out: bool = False
    over: bool = False
    backoff: int = 0
    min_resources: Resources = field(default_factory=dict)
    waiting_time: int | None = None
    stale_after: int | None = None
    stale_since: int | None = None
    source: Raw | None = None
    placed: Mapping[str, str] = field(default_factory=dict)
    others: tuple[Raw, ...] = ()
    refused: Waiting | None = None
    warnings: tuple[str, ...] = ()
    silent: bool = False
    nodes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Membership:
    """
    The gang that a pod says it belongs to, and the leaf in it ("" where there is one).
    """

    gang: str
    leaf: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """
    One answer in a dialect's own words: a merge patch of an object, or an event on it.

    ``subresource`` is ``status`` where the object has one; ``event`` is (type, reason,
    message) where this is an event and not a patch.
    """

    group: str
    version: str
    plural: str
    namespace: str
    name: str
    patch: Raw = field(default_factory=dict)
    subresource: str = ""
    event: tuple[str, str, str] | None = None


def said_of(
    claim: Claim,
    api: tuple[str, str],
    patch: Raw,
    *,
    subresource: str = "",
    event: tuple[str, str, str] | None = None,
) -> Write:
    """
    Say something on the PodGroup of a claim, in an API group and version.
    """
    namespace, _, name = claim.key.partition("/")
    return Write(
        group=api[0],
        version=api[1],
        plural="podgroups",
        namespace=namespace,
        name=name,
        patch=patch,
        subresource=subresource,
        event=event,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStanding:
    """
    What a dialect answers about: a gang's counts now, and what this round decided.

    ``reason`` and ``message`` are ours, unset when it starts or runs; ``round`` is an
    id of the round and ``now`` its time in seconds since the epoch.
    """

    key: str
    state: str
    minimum: int
    total: int
    running: int
    succeeded: int
    failed: int
    binding: int
    reason: str | None = None
    message: str | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    round: str = ""
    now: float = 0.0


class Dialect(Protocol):
    """
    One system's words: what it is called, what it lists, reads and answers.
    """

    name: str
    resources: tuple[Resource, ...]

    def membership(self, pod: PodRecord) -> Membership | None:
        """
        Say which gang a pod belongs to in this dialect; none when it does not say.
        """

    def claims(
        self, objects: Objects, members: Mapping[str, tuple[PodRecord, ...]]
    ) -> Iterable[Claim]:
        """
        Read every gang: those of group objects, and those that pods alone describe.

        ``members`` are the pods that :meth:`membership` gave to each gang's key.
        """

    def queues(self, objects: Objects, warnings: list[str]) -> Iterable[Queue]:
        """
        Read this dialect's queues; what is wrong with one is added to ``warnings``.
        """

    def topologies(self, objects: Objects, warnings: list[str]) -> Iterable[Topology]:
        """
        Read this dialect's topologies, and warn as for queues.
        """

    def answer(self, claim: Claim, standing: GroupStanding) -> Iterable[Write]:
        """
        Say what was decided of a gang, in this dialect's phases, conditions, reasons.

        Nothing is said that the object says already.
        """
