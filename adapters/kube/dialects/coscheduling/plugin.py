"""
scheduler-plugins: PodGroups of ``scheduling.x-k8s.io`` and the pods that name them.

ACK, which reads the same objects by other labels, stands in a module of its own.
"""

from collections.abc import Iterable

from adapters.kube.api.api_resources import Resource
from adapters.kube.dialects.coscheduling.answer import PLUGIN_PHASES, answers
from adapters.kube.dialects.coscheduling.gangs import (
    GroupNotes,
    check_names,
    created_at,
    missing,
    read_group,
)
from adapters.kube.dialects.coscheduling.keys import (
    POD_GROUP,
    SIGS,
    VERSION,
    X_K8S,
    FoundGang,
    KeyRules,
)
from adapters.kube.dialects.coscheduling.queues import (
    ELASTIC_QUOTA,
    Quotas,
    is_preemptible,
    plugin_queues,
)
from adapters.kube.dialects.coscheduling.shared import Family
from adapters.kube.dialects.protocol import Claim, GroupStanding, Objects, Part, Write
from models.gangs import MatchPolicy
from models.queues import Queue
from models.resources import format_quantity
from models.why.reasons import Reason

NAME = "coscheduling"
DEFAULT_SECONDS = 60
_RESOURCES: tuple[Resource, ...] = (
    Resource(group=X_K8S, version=VERSION, plural="podgroups", kind=POD_GROUP),
    Resource(group=SIGS, version=VERSION, plural="podgroups", kind=POD_GROUP),
    Resource(group=X_K8S, version=VERSION, plural="elasticquotas", kind=ELASTIC_QUOTA),
)


class Coscheduling(Family):
    """
    The words of scheduler-plugins.
    """

    __slots__ = ()
    name = NAME
    resources = _RESOURCES
    rules = KeyRules.PLUGINS

    def read(self, found: FoundGang, quotas: Quotas) -> Claim:
        """
        Read one gang by its PodGroup.
        """
        return _claim(found, quotas)

    def queues(self, objects: Objects, warnings: list[str]) -> Iterable[Queue]:
        """
        Read the ElasticQuotas of the namespaces.
        """
        return plugin_queues(objects, warnings)

    def answer(self, claim: Claim, standing: GroupStanding) -> Iterable[Write]:
        """
        Say what was decided, in the phases and messages of scheduler-plugins.
        """
        phases = PLUGIN_PHASES if self.owns_status else None
        return answers(claim, standing, _sentence(claim, standing), X_K8S, phases)


def _claim(found: FoundGang, quotas: Quotas) -> Claim:
    notes = GroupNotes(found.key)
    group = read_group(found.group, notes)
    check_names(found, notes)
    if found.group is None:
        missing(found, notes)
    elif group.minimum is None:
        notes.refuse(Reason.INVALID_GANG, "spec.minMember", "not said")
    return Claim(
        key=found.key,
        dialect=NAME,
        tree=Part(minimum=group.minimum),
        queue=quotas.queue_of_gang(found.speakers, notes),
        preemptible=is_preemptible(found.speakers),
        created=created_at(group, found.pods),
        match_policy=MatchPolicy.WAITING_AND_RUNNING,
        over=group.over,
        min_resources=group.min_resources,
        waiting_time=DEFAULT_SECONDS if group.timeout is None else group.timeout,
        source=found.group,
        refused=notes.refused,
        warnings=tuple(notes.warnings),
    )


def _sentence(claim: Claim, standing: GroupStanding) -> str:
    """
    Say why a gang waits: too few siblings, a gap in its resources, or a rejection.
    """
    facts, name = standing.facts, claim.key.partition("/")[2]
    if standing.reason == Reason.WAITING_FOR_PODS:
        return (
            f"cannot find enough sibling pods, current pods number: {facts.get('have')}"
            f", minMember of group: {standing.minimum}"
        )
    resource, needs, free = (facts.get(key) for key in ("resource", "needs", "free"))
    if isinstance(resource, str) and isinstance(needs, int) and isinstance(free, int):
        gap = format_quantity(resource, max(0, needs - free))
        return f"resource gap: {resource} {gap} ({standing.message})"
    return f"PodGroup {name} gets rejected: {standing.message}"


DIALECT = Coscheduling()
