"""
The table of values: what who installs the chart may set, and where it stands.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from tools.chart.source import BASE, Object, document, files, settings

POD = "spec/template/spec"
CONTAINER = f"{POD}/containers/0"
RECORDS = f"{POD}/volumes/1"
TEXT, NUMBER, TRUTH = "string", "integer", "boolean"
_SPACE = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_LABEL = "[A-Za-z0-9][-A-Za-z0-9_./]*"
_NAMED = {"type": "object", "required": ["name"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """
    One value: its name in dots, what it is for, and what it is unless one says else.

    ``at`` is its place in the Deployment of the base, from which its default comes
    unless ``default`` says it.  ``optional`` ones have no place there while empty.
    ``holds`` is the schema of what a list or a mapping has.
    """

    name: str
    about: str
    kind: str
    at: str = ""
    default: Any = None
    optional: bool = False
    pattern: str = ""
    holds: Object = field(default_factory=dict)

    @property
    def is_block(self) -> bool:
        """
        Tell whether it is written in several lines.
        """
        return self.kind in {"array", "object"}

    def usual(self) -> Any:  # noqa: ANN401 - whatever a manifest holds
        """
        Give its default.
        """
        if self.default is not None or self.optional or not self.at:
            return self.default
        return at(_deployment(), self.at)


VALUES = (
    Value(
        name="image.repository",
        about="Where your image is: the registry that you push to.",
        kind=TEXT,
        default="phalanx",
        pattern="^\\S+$",
    ),
    Value(
        name="image.tag",
        about="Unless you say one, the version of the chart.",
        kind=TEXT,
        default="",
        pattern="^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$",
    ),
    Value(
        name="image.digest",
        about="As sha256:…; pins the image, whatever its tag is.",
        kind=TEXT,
        default="",
        pattern="^(sha256:[0-9a-f]{64})?$",
    ),
    Value(
        name="image.pullPolicy",
        about="Unless you say one, that of Kubernetes: IfNotPresent, but for `latest`.",
        kind=TEXT,
        at=f"{CONTAINER}/imagePullPolicy",
        default="",
        optional=True,
        pattern="^(|Always|IfNotPresent|Never)$",
    ),
    Value(
        name="imagePullSecrets",
        about="Secrets of the registry, as [{name: registry}].",
        kind="array",
        at=f"{POD}/imagePullSecrets",
        default=[],
        optional=True,
        holds=_NAMED,
    ),
    Value(
        name="namespace.create",
        about=(
            "Add the Namespace itself, with the labels of Pod Security, where `helm "
            "template` is applied by other means. `helm install --create-namespace` "
            "makes one without these labels; its notes say how to add them."
        ),
        kind=TRUTH,
        default=False,
    ),
    Value(
        name="namespace.name",
        about="Unless you say one, that of the release.",
        kind=TEXT,
        default="",
        pattern=f"^({_SPACE})?$",
    ),
    Value(
        name="shard",
        about=(
            "Names the Lease and all objects. A second scheduler beside this one is a "
            "second release with a shard and a node pool of its own."
        ),
        kind=TEXT,
        default="default",
        pattern="^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$",
    ),
    Value(
        name="nodePool",
        about="KEY=VALUE of the nodes and pods that it plans; KEY= for those without.",
        kind=TEXT,
        default="",
        pattern=f"^({_LABEL}=({_LABEL})?)?$",
    ),
    Value(
        name="replicas",
        about="One leads; the others follow the cluster and take over.",
        kind=NUMBER,
        at="spec/replicas",
    ),
    Value(
        name="args",
        about="More flags of `phalanx run`, such as --log-format=text.",
        kind="array",
        default=[],
        holds={"type": TEXT},
    ),
    Value(
        name="resources",
        about="Two cores search while a round lasts; memory follows the cluster.",
        kind="object",
        at=f"{CONTAINER}/resources",
    ),
    Value(
        name="priorityClassName",
        about="Nothing starts while it does not run.",
        kind=TEXT,
        at=f"{POD}/priorityClassName",
    ),
    Value(
        name="nodeSelector",
        about="Labels of the nodes that it may run on.",
        kind="object",
        at=f"{POD}/nodeSelector",
        default={},
        optional=True,
        holds={"type": TEXT},
    ),
    Value(
        name="tolerations",
        about="Taints that it may run beside.",
        kind="array",
        at=f"{POD}/tolerations",
        holds={"type": "object"},
    ),
    Value(
        name="records.keep",
        about=(
            "Keep the record of rounds in a volume, so that it outlives its pods. Both "
            "replicas mount it."
        ),
        kind=TRUTH,
        default=False,
    ),
    Value(
        name="records.storageClassName",
        about="Unless you say one, the default class; it must offer ReadWriteMany.",
        kind=TEXT,
        default="",
        pattern="^[-a-z0-9.]*$",
    ),
    Value(
        name="records.accessModes",
        about="[ReadWriteOnce] is enough for one replica.",
        kind="array",
        default=["ReadWriteMany"],
        holds={"type": TEXT},
    ),
    Value(
        name="records.size",
        about="Rounds and bundles take at most some hundred MiB.",
        kind=TEXT,
        default="1Gi",
        pattern="^[0-9]+([.][0-9]+)?([KMGTPE]i|[kMGTPE])?$",
    ),
    Value(
        name="monitoring.enabled",
        about=(
            "Add a ServiceMonitor, alerts and a dashboard for the Prometheus operator "
            "and Grafana, and let Prometheus in."
        ),
        kind=TRUTH,
        default=False,
    ),
    Value(
        name="monitoring.namespace",
        about="Where Prometheus runs.",
        kind=TEXT,
        default="monitoring",
        pattern=f"^{_SPACE}$",
    ),
    Value(
        name="monitoring.labels",
        about=(
            "More labels of the ServiceMonitor and the PrometheusRule, by which your "
            "Prometheus finds them, such as {release: kube-prometheus-stack}."
        ),
        kind="object",
        default={},
        holds={"type": TEXT},
    ),
)


def placed() -> Iterator[Value]:
    """
    Walk the values that have a place in the Deployment.
    """
    return (value for value in VALUES if value.at)


def at(raw: Any, path: str) -> Any:  # noqa: ANN401 - whatever a manifest holds
    """
    Give what a document holds at a path such as ``spec/containers/0``.
    """

    def inside(part: Any, word: str) -> Any:  # noqa: ANN401 - as above
        return part[int(word) if isinstance(part, list) else word]

    return reduce(inside, path.split("/"), raw)


def parts_of_settings() -> Object:
    """
    Give the parts of the file of settings, which are values of their own.
    """
    written = settings(BASE)
    return {part: written[part] for part in ("policy", "run")}


def _deployment() -> Object:
    path = next(path for path in files(BASE) if path.stem == "deployment")
    return document(path)
