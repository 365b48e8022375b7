"""
Pods as planning reads them: reduced from raw objects at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from adapters.kube.objects.extended_asks import ExtendedAsk
from adapters.kube.objects.parts.device_parts import SharedGpus
from adapters.kube.objects.parts.part_words import PodPart
from adapters.kube.objects.pod_terms import NO_TERMS, PodTerms
from models.gangs import PodPhase
from models.nodes import ANYWHERE, NodeDemand
from models.resources import Resources, num_gpus


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Owner:
    """
    The controller of a pod.
    """

    api_version: str
    kind: str
    name: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class PodClaim:
    """
    A claim of devices that a pod names: itself, or by the template it is made of.

    ``claim`` is none while it is not made yet, and empty where none is needed.  One
    that is made for extended resources says what is ``asked``.
    """

    name: str
    claim: str | None
    template: str = ""
    asked: tuple[ExtendedAsk, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PodRecord:
    """
    One pod: who it is, what it asks for, where it stands.

    Times are seconds since the epoch.  ``unsupported`` names fields that we do not
    model, with the reason, and ``invalid`` those that hold what cannot be read; of
    these, ``uncounted`` keep us from knowing how much the pod takes.
    ``said`` is what its condition says while it has no node; a record is the same
    whatever that is, for we write it ourselves.
    ``terms`` are what it asks of the pods around it.  ``volumes`` are the claims of
    volumes that it mounts, of which the ``ephemeral`` ones are made for it; ``part``
    is what it asks of GPUs below whole ones, and ``shared``
    are the devices of which it has parts while it runs, ``unread`` the words it says
    that are known and not read.
    ``gpus`` are the whole ones of each container, init containers first.
    ``run_limit`` is after how many seconds it is ended at the latest.
    ``claims`` are those of devices, ``extended`` what each container asks for of
    extended resources, and ``tied`` the pieces of its node that others have with it.
    ``template`` is what it was read from together with pods like it: it is known as
    long as one of them is there.
    """

    namespace: str
    name: str
    uid: str = ""
    created: float | None = None
    started: float | None = None
    deleted: float | None = None
    scheduler: str = ""
    node: str | None = None
    phase: PodPhase = PodPhase.PENDING
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    owner: Owner | None = None
    priority: int | None = None
    priority_class: str = ""
    gates: tuple[str, ...] = ()
    group: str = ""
    requests: Resources = field(default_factory=dict)
    demand: NodeDemand = ANYWHERE
    terms: PodTerms = NO_TERMS
    unsupported: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    ephemeral: frozenset[str] = frozenset()
    invalid: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()
    part: PodPart | None = None
    gpus: tuple[int, ...] = ()
    shared: SharedGpus | None = None
    unread: tuple[str, ...] = ()
    run_limit: int | None = None
    claims: tuple[PodClaim, ...] = ()
    extended: tuple[ExtendedAsk, ...] = ()
    tied: tuple[int, ...] = ()
    said: str = field(default="", compare=False)
    template: object = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> str:
        """
        The name plans use.
        """
        return f"{self.namespace}/{self.name}"

    @property
    def has_gpus(self) -> bool:
        """
        Tell whether it asks for GPUs, whole or in parts.
        """
        return self.part is not None or num_gpus(self.requests) > 0
