"""
Raw nodes to records: what a node offers, and whether anything new may go there.

A quantity that cannot be read is not offered, one that is too large to be counted is
offered as far as it can be; the reader is told.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapters.kube.objects.fields import Json, mapping, records, text, texts, tried
from adapters.kube.objects.parts.device_parts import num_devices
from adapters.kube.objects.parts.node_devices import RegisteredGpus, devices_on
from adapters.kube.objects.parts.part_words import HAMI_SLOTS
from adapters.kube.objects.pod_reader import checked
from adapters.kube.objects.requests import amounts
from models.nodes import HOSTNAME, Node, Taint
from models.resources import DEFAULT_PODS, GPU, PODS


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecord:
    """
    A node as planning reads it, and what was wrong with it as written.

    ``devices`` are those that some contract shares, as the node itself says.
    """

    node: Node
    devices: RegisteredGpus | None = None
    invalid: tuple[str, ...] = ()


def node_record(raw: Json) -> NodeRecord:
    """
    Reduce one node.

    Raises
    ------
    FieldError
        When it has no name.
    """
    meta, spec = mapping(raw, "metadata"), mapping(raw, "spec")
    status = mapping(raw, "status")
    name, _ = checked({"name": meta.get("name")})
    faults: list[str] = []
    labels = tried(lambda: texts(meta, "labels", "metadata"), None, faults)
    taints = tried(lambda: tuple(_taints(spec)), None, faults)
    ready = tried(lambda: _is_ready(status), None, faults)
    node = Node(
        name=name,
        allocatable=_whole(_offered(status, faults), meta),
        labels={HOSTNAME: name, **(labels or {})},
        taints=taints or (),
        # Where labels or taints cannot be read, nobody knows who may go there.
        unschedulable=(
            spec.get("unschedulable") is True
            or not ready
            or meta.get("deletionTimestamp") is not None
            or labels is None
            or taints is None
        ),
    )
    return NodeRecord(
        node=node, devices=devices_on(meta, status), invalid=tuple(faults)
    )


def _offered(status: Json, faults: list[str]) -> dict[str, int]:
    """
    Read what a node offers; where nothing is said of pods, the usual number.
    """
    word = "capacity" if status.get("allocatable") is None else "allocatable"
    nothing: Json = {}
    said = tried(lambda: mapping(status, word, "status"), nothing, faults)
    offered = {PODS: DEFAULT_PODS}
    for name, value in said.items():
        one = {word: {name: value}}
        offered |= tried(
            lambda one=one: amounts(  # type: ignore[misc]
                one, word, "status", up=False, faults=faults
            ),
            {name: 0},
            faults,
        )
    return offered


def _whole(offered: dict[str, int], meta: Json) -> dict[str, int]:
    """
    Count each GPU once where a system offers it as often as pods may share it.
    """
    said = meta.get("annotations")
    devices = num_devices(said) if isinstance(said, Mapping) else None
    if devices is not None and GPU in offered:
        offered[HAMI_SLOTS] = offered[GPU]
        offered[GPU] = min(offered[GPU], devices)
    return offered


def _taints(spec: Json) -> Iterator[Taint]:
    for index, raw in enumerate(records(spec, "taints", "spec")):
        place = f"spec.taints[{index}]"
        yield Taint(
            key=text(raw, "key", place),
            value=text(raw, "value", place),
            effect=text(raw, "effect", place) or "NoSchedule",
        )


def _is_ready(status: Json) -> bool:
    """
    Tell whether a node is ready; one that says nothing of it is.
    """
    for raw in records(status, "conditions", "status"):
        if raw.get("type") == "Ready":
            return raw.get("status") == "True"
    return True
