"""
Gangs as written to gangs as planned: defaults, names of pods, their phases.
"""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from adapters.files.neighbour_records import neighbours_of
from models.devices.gpu_parts import GpuDevice, GpuPart, with_shares
from models.documents.place_specs import (
    AffinitySpec,
    GpuDeviceSpec,
    GpuSpec,
    HostPortSpec,
    TermSpec,
    VolumeSpec,
)
from models.documents.scenario import (
    GangSpec,
    ReservedSpec,
    RunningSpec,
    TerminatingSpec,
    TopologyDemandSpec,
    TreeSpec,
)
from models.gangs import Gang, Group, MatchPolicy, Pod, PodPhase, PodSet, Tree
from models.host_ports import port_requests
from models.memory.run_times import kind_of
from models.nodes import ANYWHERE, HOSTNAME, LabelRule, NodeDemand, Terms, Toleration
from models.resources import PODS, Resources
from models.topology import TopologyDemand
from models.why.reasons import Waiting

T = TypeVar("T", bound=Hashable)


class FileGangMaker:
    """
    Makes the gangs of one file; equal demands become one object.

    With ``memories`` of devices the requests say what their GPUs count.
    """

    def __init__(
        self, only_topology: str | None, memories: frozenset[int] | None = None
    ) -> None:
        self._only_topology = only_topology
        self._memories = memories
        self._shared: dict[Hashable, Hashable] = {}
        self._requests: dict[int, Resources] = {}
        self._with_more: dict[object, Resources] = {}

    def gang(self, spec: GangSpec, name: str) -> Gang:
        """
        Make one of the gangs a record stands for.
        """
        return Gang(
            name=name,
            namespace=spec.namespace,
            tree=self._tree(spec, name, "", below_min_pods=False),
            queue=spec.queue,
            priority=spec.priority,
            preemptible=spec.preemptible,
            age=spec.age,
            mates=self._share(tuple(sorted(set(spec.mates)))),
            match_policy=MatchPolicy(spec.match_policy),
            mode=spec.mode,
            once_satisfied=spec.once_satisfied,
            timed_out=spec.timed_out,
            backoff=spec.backoff,
            min_resources=spec.min_resources,
            waiting_time=spec.waiting_time,
            max_runtime=spec.max_runtime,
            stale_after=spec.stale_after,
            stale_since=spec.stale_since,
            evicted_ago=spec.evicted_ago,
            passed_over=spec.passed_over,
            held_for=spec.held_for,
            held_first=spec.held_first,
            lent_by=tuple(sorted(set(spec.lent_by))),
            runs_like=(
                kind_of(spec.runs_like.queue, spec.runs_like.owner, spec.runs_like.gpus)
                if spec.runs_like
                else None
            ),
            refused=(
                Waiting(spec.refused.reason, spec.refused.facts)
                if spec.refused
                else None
            ),
        )

    def _tree(
        self, spec: TreeSpec, name: str, gang: str, *, below_min_pods: bool
    ) -> Tree:
        if spec.groups is None:
            stem = f"{gang}-{name}" if gang else name
            return self._leaf(spec, name, stem, below_min_pods=below_min_pods)
        below = below_min_pods or spec.min_pods is not None
        minimum = spec.min_groups
        if minimum is None:
            minimum = len(spec.groups) if spec.min_pods is None else 0
        children = tuple(
            self._tree(child, child.name, gang or name, below_min_pods=below)
            for child in spec.groups
        )
        return Group(
            name=name,
            min_groups=minimum,
            min_pods=spec.min_pods or 0,
            children=children,
            topology=self._topology(spec.topology),
        )

    def _leaf(
        self, spec: TreeSpec, name: str, stem: str, *, below_min_pods: bool
    ) -> PodSet:
        replicas = spec.replicas if spec.replicas is not None else spec.min or 0
        default = 0 if below_min_pods else replicas
        return PodSet(
            name=name,
            minimum=default if spec.min is None else spec.min,
            replicas=replicas,
            requests=self._request(spec),
            pods=_named(spec, tuple(_pods(spec, stem, replicas))),
            demand=self._demand(spec),
            exclusive=spec.exclusive,
            after=tuple(sorted(set(spec.after))),
            topology=self._topology(spec.topology),
            neighbours=self._share(neighbours_of(spec)),
            gates=tuple(sorted(set(spec.gates))),
        )

    def _share(self, record: T) -> T:
        return self._shared.setdefault(record, record)  # type: ignore[return-value]

    def _request(self, spec: TreeSpec) -> Resources:
        written = spec.requests
        found = self._requests.get(id(written))
        if found is None:
            amounts = {name: value for name, value in written.items() if value}
            found = {**amounts, PODS: written.get(PODS, 1)}
            self._requests[id(written)] = found
        if not spec.host_ports and self._memories is None:
            return found
        more = host_ports(spec)
        if spec.gpu is not None:
            more = {**more, gpu_part(spec.gpu).resource: 1}
        key = (tuple(found.items()), tuple(more.items()))
        if key not in self._with_more:
            whole = {**found, **more}
            memories = self._memories
            counted = whole if memories is None else with_shares(whole, memories)
            self._with_more[key] = counted
        return self._with_more[key]

    def _topology(self, spec: TopologyDemandSpec | None) -> TopologyDemand | None:
        if spec is None:
            return None
        return self._share(
            TopologyDemand(
                topology=spec.name or self._only_topology or "",
                required=spec.required,
                preferred=spec.preferred,
            )
        )

    def _demand(self, spec: TreeSpec) -> NodeDemand:
        if not (
            spec.node_selector or spec.affinity or spec.tolerations or spec.volumes
        ):
            return ANYWHERE
        tolerations = (
            Toleration(key=t.key, operator=t.operator, value=t.value, effect=t.effect)
            for t in spec.tolerations
        )
        return self._share(
            NodeDemand(
                selector=tuple(sorted(spec.node_selector.items())),
                terms=_terms(spec.affinity),
                tolerations=tuple(sorted(set(tolerations), key=repr)),
                volumes=_volumes(spec.volumes),
            )
        )


def gpu_part(spec: GpuSpec) -> GpuPart:
    """
    Give the part of GPUs that a leaf asks for.
    """
    return GpuPart(
        contract=spec.contract,
        cores=spec.fraction or spec.cores or 0,
        share=spec.fraction or spec.share or 0,
        memory=spec.memory or 0,
        profile=spec.mig or "",
        count=spec.count or spec.devices or 1,
    )


def host_ports(spec: TreeSpec) -> Resources:
    """
    Give what the pods of a leaf ask for that use ports of their hosts.
    """
    found: dict[str, int] = {}
    for said in spec.host_ports:
        port = HostPortSpec(port=said) if isinstance(said, int) else said
        asked = port_requests(port.port, port.protocol, port.address)
        found |= {name: max(n, found.get(name, 0)) for name, n in asked.items()}
    return found


def _terms(affinity: AffinitySpec | None) -> Terms | None:
    if affinity is None:
        return None
    inner = affinity.node or affinity
    return None if inner.required is None else _of_terms(inner.required.terms)


def _of_terms(specs: Iterable[TermSpec]) -> Terms:
    terms = {
        tuple(
            sorted(
                (
                    LabelRule(
                        key=rule.key,
                        operator=rule.operator,
                        values=tuple(sorted(set(rule.values))),
                    )
                    for rule in term.expressions
                ),
                key=repr,
            )
        )
        for term in specs
    }
    return tuple(sorted(terms, key=repr))


def _volumes(specs: Iterable[VolumeSpec]) -> tuple[Terms, ...]:
    """
    Give what volumes demand of a node, each demand once.
    """
    found: set[Terms] = set()
    for spec in specs:
        if spec.nodes is not None:
            names = tuple(sorted(set(spec.nodes)))
            found.add(((LabelRule(key=HOSTNAME, operator="In", values=names),),))
        if spec.topology:
            found.add((tuple(map(_is, sorted(spec.topology.items()))),))
        if spec.terms is not None:
            found.add(_of_terms(spec.terms))
    return tuple(sorted(found, key=repr))


def _is(label: tuple[str, str]) -> LabelRule:
    return LabelRule(key=label[0], operator="In", values=label[1:])


def _named(spec: TreeSpec, pods: tuple[Pod, ...]) -> tuple[Pod, ...]:
    """
    Give pods the names that the file lists.
    """
    if spec.names is None:
        return pods
    pairs = zip(pods, spec.names, strict=True)
    return tuple(replace(pod, name=name) for pod, name in pairs)


def _pods(spec: TreeSpec, stem: str, replicas: int) -> Iterator[Pod]:
    created = replicas if spec.created is None else spec.created
    index = 0
    for phase, entries in (
        (PodPhase.RUNNING, spec.running),
        (PodPhase.TERMINATING, spec.terminating),
        (PodPhase.RESERVED, spec.reserved),
    ):
        entry: RunningSpec | TerminatingSpec | ReservedSpec
        for entry in entries:
            seconds = 0 if isinstance(entry, ReservedSpec) else entry.seconds
            devices = tuple(sorted(map(_device, entry.devices)))
            tied = () if isinstance(entry, ReservedSpec) else tuple(sorted(entry.tied))
            for _ in range(entry.pods):
                name = f"{stem}-{index}"
                yield Pod(name, phase, entry.node, seconds, devices=devices, tied=tied)
                index += 1
    for phase, count in (
        (PodPhase.SUCCEEDED, spec.succeeded),
        (PodPhase.FAILED, spec.failed),
        (PodPhase.GATED, spec.gated),
    ):
        for _ in range(count):
            yield Pod(f"{stem}-{index}", phase)
            index += 1
    for rest in range(index, created):
        yield Pod(f"{stem}-{rest}")


def _device(said: int | GpuDeviceSpec) -> GpuDevice:
    if isinstance(said, int):
        return GpuDevice(said)
    return GpuDevice(said.device, said.start)
