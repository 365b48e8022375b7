"""
The rules that our role needs, as data; and whether it has them, asked at the start.

``deploy/`` grants exactly these, which a test compares.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from adapters.kube.acting.intent import names_of
from adapters.kube.api.api_resources import Resource
from adapters.kube.api.client import Transport
from adapters.kube.api.errors import ClusterError

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """
    One verb on one resource, everywhere or inside our own namespace.

    With ``names`` it is needed of those objects only.  ``version`` is where the
    resource is served; of ``optional`` ones nothing is needed where it is not.
    """

    group: str
    resource: str
    verb: str
    own: bool = False
    names: tuple[str, ...] = ()
    version: str = "v1"
    optional: bool = False

    def __str__(self) -> str:
        where = " in its own namespace" if self.own else ""
        named = ", ".join(f'"{name}"' for name in self.names)
        names = f"resourceNames: [{named}], " if named else ""
        return (
            f'{{apiGroups: ["{self.group}"], resources: ["{self.resource}"], {names}'
            f'verbs: ["{self.verb}"]}}{where}'
        )


ACTING = (
    Permission(group="", resource="pods", verb="get"),
    Permission(group="", resource="pods/binding", verb="create"),
    Permission(group="", resource="pods/eviction", verb="create"),
    Permission(group="", resource="persistentvolumeclaims", verb="get"),
    Permission(group="", resource="persistentvolumeclaims", verb="patch"),
    Permission(group="", resource="persistentvolumes", verb="get"),
    Permission(group="", resource="persistentvolumes", verb="patch"),
    *(
        Permission(group="resource.k8s.io", resource=resource, verb=verb, optional=True)
        for resource, verb in (
            ("resourceclaims", "get"),
            ("resourceclaims", "patch"),
            ("resourceclaims", "create"),
            ("resourceclaims", "delete"),
            ("resourceclaims/status", "patch"),
            ("resourceclaims/binding", "patch"),
        )
    ),
    *(
        Permission(
            group="scheduling.run.ai",
            resource="bindrequests",
            verb=verb,
            version="v1alpha2",
            optional=True,
        )
        for verb in ("get", "create", "delete")
    ),
)
"""
What binds and evicts.

KAI's binder is asked to bind pods that share GPUs as KAI does; claims are told the node
of the pod that they wait for, or get a free volume; claims of devices get them.
"""
TELLING = (
    Permission(group="", resource="pods/status", verb="patch"),
    *(
        Permission(group="events.k8s.io", resource="events", verb=verb)
        for verb in ("get", "create", "patch")
    ),
)
"""
What says to pods and people what was decided.
"""
PAUSING = (Permission(group="", resource="namespaces", verb="get", own=True),)
"""
What tells whether our own namespace pauses us; a Role reaches no other.
"""
_ANSWERED: Mapping[str, tuple[str, ...]] = {
    "scheduling.run.ai": ("podgroups", "podgroups/status"),
    "scheduling.x-k8s.io": ("podgroups", "podgroups/status"),
    "scheduling.sigs.k8s.io": ("podgroups", "podgroups/status"),
    "scheduling.k8s.io": ("podgroups/status", "compositepodgroups/status"),
    "scheduling.volcano.sh": ("podgroups",),
    "scheduling.incubator.k8s.io": ("podgroups",),
    "scheduling.roc": ("podgroups",),
}
"""
What is patched of group objects: those of Volcano's family have no status of their own.
"""


class RoleLacksError(ClusterError):
    """
    Our role lacks rules; ``rules`` is what to add to it.
    """

    todo = "grant what `phalanx config role` prints with the same settings"

    def __init__(self, rules: Iterable[str]) -> None:
        self.rules = tuple(rules)
        noun = "a rule" if len(self.rules) == 1 else f"{len(self.rules)} rules"
        super().__init__(f"the role lacks {noun}: {'; '.join(self.rules)}")


def leading(shard: str) -> Iterator[Permission]:
    """
    Give what holding the Lease of a shard needs.
    """
    yield from (each for each in keeping(shard) if each.resource == "leases")


def keeping(shard: str) -> Iterator[Permission]:
    """
    Give what keeping the intent and the Lease of a shard needs.

    Whoever makes an object has not named it yet for the server, so that is of any name.
    """
    intents = tuple(names_of(f"phalanx-{shard}-intent"))
    for group, resource, names in (
        ("", "configmaps", intents),
        ("coordination.k8s.io", "leases", (f"phalanx-{shard}",)),
    ):
        for verb in ("get", "create", "update"):
            yield Permission(
                group=group,
                resource=resource,
                verb=verb,
                own=True,
                names=() if verb == "create" else names,
            )


def reading(resources: Iterable[Resource]) -> Iterator[Permission]:
    """
    Give what following some kinds needs.
    """
    for resource in resources:
        for verb in ("list", "watch"):
            yield Permission(
                group=resource.group,
                resource=resource.plural,
                verb=verb,
                version=resource.version,
                optional=not resource.needed,
            )


def telling(resources: Iterable[Resource]) -> Iterator[Permission]:
    """
    Give what answering gangs on their own objects needs, and on pods.

    Where somebody else wrote an object meanwhile, it is read again.
    """
    yield from TELLING
    for kind in resources:
        for written in _ANSWERED.get(kind.group, ()):
            plural = written.partition("/")[0]
            if plural != kind.plural:
                continue
            for resource, verb in ((plural, "get"), (written, "patch")):
                yield Permission(
                    group=kind.group,
                    resource=resource,
                    verb=verb,
                    version=kind.version,
                    optional=True,
                )


def needed(resources: Sequence[Resource], shard: str = "default") -> list[Permission]:
    """
    List all that the scheduler needs where some kinds are followed, each rule once.
    """
    acting = [*ACTING, *PAUSING, *keeping(shard)]
    rules = [*acting, *reading(resources), *telling(resources)]
    return list(dict.fromkeys(rules))


def to_observe(
    resources: Sequence[Resource], shard: str = "observe"
) -> list[Permission]:
    """
    List all that is needed to observe: to read, and the Lease of a shard, if of one.
    """
    return [*(leading(shard) if shard else ()), *reading(resources)]


def check(
    transport: Transport, permissions: Sequence[Permission], namespace: str
) -> None:
    """
    Ask the server whether we may do all that we will have to, some rules at a time.

    Each is asked for by itself: a review of all our rules at once is of one namespace,
    does not tell what holds in all of them, and need not be complete.

    Raises
    ------
    RoleLacksError
        When something is missing, with every rule that is.
    """

    def is_lacking(asked: Permission) -> bool:
        if _is_granted(transport, asked, namespace):
            return False
        return not asked.optional or _is_served(transport, asked)

    with ThreadPoolExecutor(_AT_ONCE, "review") as crew:
        answers = list(crew.map(is_lacking, permissions))
    lacking = [str(p) for p, lacks in zip(permissions, answers, strict=True) if lacks]
    if lacking:
        raise RoleLacksError(lacking)


def _is_granted(transport: Transport, asked: Permission, namespace: str) -> bool:
    names = asked.names or ("",)
    return all(_is_allowed(transport, asked, namespace, name) for name in names)


def _is_allowed(
    transport: Transport, asked: Permission, namespace: str, name: str
) -> bool:
    resource, _, subresource = asked.resource.partition("/")
    attributes = {
        "group": asked.group,
        "resource": resource,
        "subresource": subresource,
        "verb": asked.verb,
        "namespace": namespace if asked.own else "",
    } | ({"name": name} if name else {})
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = transport.call("POST", _REVIEWS, review)
    return (answer.get("status") or {}).get("allowed") is True


def _is_served(transport: Transport, asked: Permission) -> bool:
    plural = asked.resource.partition("/")[0]
    kind = Resource(
        group=asked.group, version=asked.version, plural=plural, kind=plural
    )
    return transport.serves(kind)
