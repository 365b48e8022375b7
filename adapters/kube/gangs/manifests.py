"""
Manifests: objects as ``kubectl get -o yaml`` prints them, from texts to one snapshot.

The time of the snapshot is the latest that an object speaks of, so that the same
objects always give the same plan.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.api.errors import ManifestsRejectedError
from adapters.kube.api.paths import called as resource_called
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.registry import dialects
from adapters.kube.dialects.workloads import IN_MANIFESTS
from adapters.kube.gangs.assemble import Assembled, snapshot_of
from adapters.kube.gangs.kinds import BIND_REQUESTS, resources_of
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    mapping,
    moment_of,
    records,
    shown,
)
from adapters.kube.objects.object_names import is_label
from adapters.kube.objects.pod_reader import named
from adapters.kube.objects.unread_fields import (
    called,
    counted_kinds,
    is_unread,
    makes_pods,
)
from models.dialects import DialectChoice
from models.errors import Problem


@dataclass(frozen=True, slots=True)
class Manifest:
    """
    One object and where it stands: the file, and the place in it.
    """

    source: str
    place: str
    raw: Raw

    @property
    def version(self) -> str:
        """
        Give API group and version.
        """
        return str(self.raw.get("apiVersion"))

    @property
    def kind(self) -> tuple[str, str]:
        """
        Give API group and kind.
        """
        return group_of(self.version), str(self.raw.get("kind"))


def manifests_of(source: str, documents: Sequence[object]) -> Iterator[Manifest]:
    """
    Walk the objects of a file: lists are opened, whatever their kind is called.

    Raises
    ------
    ManifestsRejectedError
        When something is no object, with the place of each.
    """
    problems: list[Problem] = []
    found: list[Manifest] = []
    for number, document in enumerate(documents):
        place = f"document {number + 1}" if len(documents) > 1 else ""
        _open(source, place, document, found, problems)
    if problems:
        raise ManifestsRejectedError(source, problems)
    yield from found


def _open(
    source: str,
    place: str,
    document: object,
    found: list[Manifest],
    problems: list[Problem],
) -> None:
    hint = "each object needs apiVersion, kind and metadata"
    if not isinstance(document, Mapping):
        what = f"{shown(document)} is not an object"
        problems.append(Problem(place or "file", what, hint))
        return
    kind = document.get("kind")
    if kind == "List" or (
        isinstance(kind, str) and kind.endswith("List") and "items" in document
    ):
        try:
            listed = records(document, "items")
        except FieldError as error:
            problems.append(Problem(place or "file", str(error), hint))
            return
        default = {
            "apiVersion": document.get("apiVersion"),
            "kind": kind.removesuffix("List"),
        }
        for index, item in enumerate(listed):
            where = f"{place}, items[{index}]" if place else f"items[{index}]"
            whole = item if "kind" in item or kind == "List" else {**default, **item}
            _open(source, where, whole, found, problems)
        return
    for word in ("apiVersion", "kind"):
        if not isinstance(value := document.get(word), str):
            where = ", ".join(filter(None, (place, _named(document), word)))
            missing = f'the field "{word}" is missing'
            what = missing if value is None else f"{shown(value)} is not text"
            problems.append(Problem(where, what, hint))
            return
    found.append(Manifest(source, place, document))


def _named(document: Raw) -> str:
    """
    Name an object by the kind and the name that it has, as far as it has them.
    """
    meta = document.get("metadata")
    name = meta.get("name") if isinstance(meta, Mapping) else None
    words = (document.get("kind"), name)
    return " ".join(word for word in words if isinstance(word, str))


_BIND_REQUEST = BIND_REQUESTS.group, BIND_REQUESTS.kind


def objects_of(manifests: Iterable[Manifest], source: str = "") -> Objects:
    """
    Sort objects by kind; kinds that nobody reads are passed over.

    ``source`` is where they were looked for, told where there are none.

    Raises
    ------
    ManifestsRejectedError
        When an object has no name, or is written twice.
    """
    read = (*resources_of(dialects()), *IN_MANIFESTS)
    known = {(resource.group, resource.kind): resource for resource in read}
    by_kind: dict[tuple[str, str], dict[tuple[str, str], Raw]] = {}
    problems: list[Problem] = []
    sources: dict[str, None] = {}
    others: list[Manifest] = []
    for each in manifests:
        manifest = _next_run(each)
        sources[manifest.source] = None
        kind = manifest.kind
        if _is_binder(manifest):
            by_kind.setdefault(_BIND_REQUEST, {})
        elif kind in known and not is_unread(manifest.version, kind[1]):
            there = by_kind.setdefault(kind, {})
            _enter(there, known[kind], manifest, problems)
        else:
            others.append(manifest)
    unread = Counter(_not_read(others, by_kind))
    if not (by_kind or problems):
        problems.append(_nothing_read(unread))
    if problems:
        raise ManifestsRejectedError(", ".join(sources) or source, problems)
    return Objects(
        by_kind={
            kind: tuple(named[at] for at in sorted(named))
            for kind, named in sorted(by_kind.items())
        },
        unread=unread,
    )


def _not_read(
    others: Iterable[Manifest],
    by_kind: Mapping[tuple[str, str], Mapping[tuple[str, str], Raw]],
) -> Iterator[str]:
    """
    Name the kinds that mean something and are not read.

    Of kinds that nobody knows, they are those of workloads without any pods.
    """
    controlled = {
        (str(ref.get("kind")), str(ref.get("name")))
        for there in by_kind.values()
        for raw in there.values()
        for ref in _owners(raw)
    }
    for manifest in others:
        version, kind = manifest.version, manifest.kind[1]
        meta = manifest.raw.get("metadata")
        name = str(meta.get("name")) if isinstance(meta, Mapping) else ""
        counts = (kind, name) not in controlled and makes_pods(manifest.raw.get("spec"))
        if counts or is_unread(version, kind):
            yield called(version, kind)


def _owners(raw: Raw) -> Sequence[Json]:
    try:
        return records(mapping(raw, "metadata"), "ownerReferences")
    except FieldError:
        return ()


def _is_binder(manifest: Manifest) -> bool:
    """
    Tell whether an object says that KAI's binder is there: the definition of its kind.
    """
    meta = manifest.raw.get("metadata")
    name = meta.get("name") if isinstance(meta, Mapping) else None
    is_definition = manifest.kind[1] == "CustomResourceDefinition"
    return is_definition and name == resource_called(BIND_REQUESTS)


def _enter(
    there: dict[tuple[str, str], Raw],
    resource: Resource,
    manifest: Manifest,
    problems: list[Problem],
) -> None:
    manifest = _with_name(there, manifest)
    at = _identity(manifest, resource, problems)
    if at is None:
        return
    if at in there:
        shown = "/".join(filter(None, at))
        what = f"{manifest.raw['kind']} {shown} is written twice"
        problems.append(Problem(_where(manifest), what))
    there[at] = manifest.raw


def _with_name(there: Collection[tuple[str, str]], manifest: Manifest) -> Manifest:
    """
    Name an object as a server would name it, though by a number that it never gives.
    """
    meta = manifest.raw.get("metadata")
    if not isinstance(meta, Mapping) or meta.get("name"):
        return manifest
    start = meta.get("generateName")
    if not isinstance(start, str) or not start:
        return manifest
    taken = {name for _, name in there}
    name = next(each for n in count() if (each := f"{start}{n:05}") not in taken)
    raw = {**manifest.raw, "metadata": {**meta, "name": name}}
    return replace(manifest, raw=raw)


def _next_run(manifest: Manifest) -> Manifest:
    """
    Give the Job that a CronJob makes next, where nobody has submitted that one.
    """
    meta, spec = manifest.raw.get("metadata"), manifest.raw.get("spec")
    if manifest.kind != ("batch", "CronJob") or not isinstance(meta, Mapping):
        return manifest
    if not isinstance(spec, Mapping) or meta.get("uid"):
        return manifest
    job = spec.get("jobTemplate")
    if not isinstance(job, Mapping):
        return manifest
    said, own = job.get("metadata"), {"namespace": meta.get("namespace")}
    if meta.get("name"):
        own["name"] = f"{meta['name']}-next"
    else:
        own["generateName"] = meta.get("generateName")
    above = {**said, **own} if isinstance(said, Mapping) else own
    inner = job.get("spec")
    if spec.get("suspend") is True and isinstance(inner, Mapping):
        inner = {**inner, "suspend": True}
    raw = {"apiVersion": manifest.version, "kind": "Job", "metadata": above}
    return replace(manifest, raw={**raw, "spec": inner})


def _nothing_read(unread: Counter[str]) -> Problem:
    passed = ", ".join(counted_kinds(unread))
    what = "none of its objects is of a kind that is read"
    what = f"{what}; not read: {passed}" if passed else what
    return Problem("file", what, "name files with pods and nodes")


def _identity(
    manifest: Manifest, resource: Resource, problems: list[Problem]
) -> tuple[str, str] | None:
    """
    Give namespace and name of an object, or note that it has none.
    """
    try:
        name, namespace = named(mapping(manifest.raw, "metadata"))
    except FieldError as error:
        what = f"{resource.kind}: {error}"
        problems.append(Problem(_where(manifest), what))
        return None
    if resource.namespaced and not is_label(namespace):
        what = f"{shown(namespace)} is not a valid Kubernetes name"
        place = f"{resource.kind} {name}: metadata.namespace"
        problems.append(Problem(_where(manifest), f"{place}: {what}"))
        return None
    return (namespace if resource.namespaced else "", name)


def _where(manifest: Manifest) -> str:
    place = manifest.place or "file"
    return f"{manifest.source}: {place}"


def group_of(version: str) -> str:
    """
    Give the API group of an ``apiVersion``; the core's is empty.
    """
    return version.rpartition("/")[0]


def assembled_of(
    manifests: Iterable[Manifest],
    schedulers: Sequence[str] = (),
    source: str = "",
    choices: Sequence[DialectChoice] = (),
) -> Assembled:
    """
    Make the snapshot of manifests; the pods of ``phalanx`` are ours if none are named.
    """
    objects = objects_of(manifests, source)
    return snapshot_of(objects, dialects(choices), latest(objects), schedulers)


def latest(objects: Objects) -> float:
    """
    Give the latest time that objects speak of; the epoch where none does.
    """
    times = (
        moment
        for raws in objects.by_kind.values()
        for raw in raws
        for moment in _times(raw)
    )
    return max(times, default=0.0)


def _times(raw: Json) -> Iterator[float]:
    """
    Walk the times at which something happened to an object.
    """
    meta, status = raw.get("metadata"), raw.get("status")
    places: list[object] = [meta, status]
    if isinstance(status, Mapping):
        conditions = status.get("conditions")
        places += conditions if isinstance(conditions, list) else []
    for place in places:
        if isinstance(place, Mapping):
            for key in _TIMES:
                moment = moment_of(place.get(key))
                if moment is not None:
                    yield moment


_TIMES = (
    "creationTimestamp",
    "startTime",
    "lastTransitionTime",
    "lastHeartbeatTime",
    "lastProbeTime",
    "scheduleStartTime",
)
