"""
Koordinator: PodGroups of ``scheduling.sigs.k8s.io``, annotations, and both together.

A pod's annotations win over the PodGroup, as its proposal says; its code lets the
PodGroup win, and a switch does so here.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from adapters.kube.api.api_resources import Resource
from adapters.kube.dialects.coscheduling.answer import KOORDINATOR_PHASES, answers
from adapters.kube.dialects.coscheduling.gangs import (
    GroupFields,
    GroupNotes,
    GroupSaid,
    check_names,
    created_at,
    first,
    missing,
    read_group,
    said_by_group,
    said_by_pods,
    said_in_spec,
)
from adapters.kube.dialects.coscheduling.keys import (
    GANG_GROUPS,
    GANG_MIN,
    GANG_MODE,
    GANG_NAME,
    GANG_POLICY,
    GANG_TIMEOUT,
    GANG_TOTAL,
    GANG_WAIT,
    LIGHT_MIN,
    LIGHT_POLICY,
    POD_GROUP,
    SIGS,
    VERSION,
    X_K8S,
    FoundGang,
    KeyRules,
    Word,
    annotation,
    label,
)
from adapters.kube.dialects.coscheduling.network_topology import check_gathering
from adapters.kube.dialects.coscheduling.queues import (
    ELASTIC_QUOTA,
    Quotas,
    is_preemptible,
    koordinator_queues,
)
from adapters.kube.dialects.coscheduling.shared import Family
from adapters.kube.dialects.coscheduling.text_values import (
    go_seconds,
    mates_of,
    minimum_of,
    number,
    policy_of,
)
from adapters.kube.dialects.protocol import Claim, GroupStanding, Objects, Part, Write
from adapters.kube.objects.fields import shown
from adapters.kube.objects.parts.node_devices import DEVICES
from models.gangs import MatchPolicy, PodPhase
from models.queues import Queue
from models.why.reasons import Reason

NAME = "koordinator"
DEFAULT_SECONDS = 600
POLICIES = (
    MatchPolicy.ONLY_WAITING,
    MatchPolicy.WAITING_AND_RUNNING,
    MatchPolicy.ONCE_SATISFIED,
)
SATISFIED = frozenset({"Scheduled", "Running", "Finished", "Failed"})
_MINIMUM = (label(LIGHT_MIN), annotation(GANG_MIN))
_POLICY = (annotation(GANG_POLICY), annotation(LIGHT_POLICY))
_GROUPS, _WAIT = annotation(GANG_GROUPS), annotation(GANG_WAIT)
_TOTAL, _MODE = annotation(GANG_TOTAL), annotation(GANG_MODE)
_UNSTARTED = (PodPhase.PENDING, PodPhase.GATED)
_RESOURCES: tuple[Resource, ...] = (
    Resource(group=SIGS, version=VERSION, plural="podgroups", kind=POD_GROUP),
    Resource(group=X_K8S, version=VERSION, plural="podgroups", kind=POD_GROUP),
    Resource(group=SIGS, version=VERSION, plural="elasticquotas", kind=ELASTIC_QUOTA),
    DEVICES,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Koordinator(Family):
    """
    Koordinator's words.

    ``annotations_first``: what pods say wins over their PodGroup.
    """

    annotations_first: bool = True
    name = NAME
    resources = _RESOURCES
    rules = KeyRules.KOORDINATOR

    def queues(self, objects: Objects, warnings: list[str]) -> Iterable[Queue]:
        """
        Read the tree of ElasticQuotas.
        """
        return koordinator_queues(objects, warnings)

    def answer(self, claim: Claim, standing: GroupStanding) -> Iterable[Write]:
        """
        Say what was decided, in Koordinator's counters, phases and messages.
        """
        phases = KOORDINATOR_PHASES if self.owns_status else None
        rejected = f"GangGroup {','.join(claim.mates) or claim.key}"
        return answers(claim, standing, _sentence(rejected, standing), SIGS, phases)

    def read(self, found: FoundGang, quotas: Quotas) -> Claim:
        """
        Read one gang by annotations and PodGroup, in their order.
        """
        notes = GroupNotes(found.key)
        group = read_group(found.group, notes)
        check_names(found, notes)
        check_gathering(found, group, notes)
        minimum = self._minimum(found, group, notes)
        pods = found.speakers
        groups = self._heard(found, group, (_GROUPS,), notes)
        said = self._heard(found, group, _POLICY, notes)
        policy = policy_of(said, POLICIES, MatchPolicy.ONCE_SATISFIED, notes)
        return Claim(
            key=found.key,
            dialect=NAME,
            tree=Part(
                minimum=minimum, replicas=self._total(found, group, minimum, notes)
            ),
            queue=quotas.queue_of_gang(pods, notes),
            preemptible=is_preemptible(pods),
            created=created_at(group, found.pods),
            mates=mates_of(groups, notes),
            match_policy=policy,
            mode=self._mode(found, group, notes),
            once_satisfied=group.phase in SATISFIED,
            over=group.over,
            timed_out=_timed_out(found, group),
            min_resources=group.min_resources,
            waiting_time=self._waiting_time(found, group, notes),
            source=found.group,
            refused=notes.refused,
            warnings=tuple(notes.warnings),
        )

    def _heard(
        self,
        found: FoundGang,
        group: GroupFields,
        words: tuple[Word, ...],
        notes: GroupNotes,
        *,
        must: bool = True,
    ) -> GroupSaid | None:
        """
        Give what pods and PodGroup say by label or annotation, in their order.
        """
        by_pods = said_by_pods(found.speakers, words, notes, must=must)
        by_group = said_by_group(group, words)
        return first(notes, *self._ordered(by_pods, by_group))

    def _ordered(
        self, by_pods: GroupSaid | None, *others: GroupSaid | None
    ) -> list[GroupSaid | None]:
        return [by_pods, *others] if self.annotations_first else [*others, by_pods]

    def _minimum(
        self, found: FoundGang, group: GroupFields, notes: GroupNotes
    ) -> int | None:
        by_pods = said_by_pods(found.speakers, _MINIMUM, notes)
        spec = said_in_spec(group.minimum, "spec.minMember")
        noted = said_by_group(group, _MINIMUM[1:])
        by_group = (noted, spec) if self.annotations_first else (spec, noted)
        said = first(notes, *self._ordered(by_pods, *by_group))
        if said is not None:
            return minimum_of(said, notes)
        if found.group is None and not _names_itself(found):
            missing(found, notes)
        else:
            what = "not set, and the gang has no other minimum"
            where = f"annotation {GANG_MIN}"
            notes.refuse(Reason.INVALID_GANG, where, what)
        return None

    def _total(
        self,
        found: FoundGang,
        group: GroupFields,
        minimum: int | None,
        notes: GroupNotes,
    ) -> int | None:
        """
        Read how many pods there will be: it informs, and is never below the minimum.
        """
        words = (_TOTAL,)
        said = self._heard(found, group, words, notes, must=False)
        if said is None or minimum is None:
            return None
        total = number(said)
        if total is None or total > 1_000_000:
            notes.warn(
                said.where, f"{shown(said.value)} is not a number: {minimum} is used"
            )
            return None
        if total < minimum:
            notes.warn(said.where, f"{total} is below the minimum: {minimum} is used")
        return max(total, minimum, len(found.pods))

    def _mode(self, found: FoundGang, group: GroupFields, notes: GroupNotes) -> str:
        words = (_MODE,)
        said = self._heard(found, group, words, notes, must=False)
        if said is None or said.value in {"", "Strict"}:
            return "Strict"
        if said.value != "NonStrict":
            notes.warn(said.where, f"{shown(said.value)} is unknown: Strict is used")
            return "Strict"
        notes.warn(said.where, "NonStrict is as Strict: no part of a gang holds room")
        return "NonStrict"

    def _waiting_time(
        self, found: FoundGang, group: GroupFields, notes: GroupNotes
    ) -> int:
        words = (_WAIT,)
        said = said_by_pods(found.speakers, words, notes, must=False)
        instead = DEFAULT_SECONDS if group.timeout is None else group.timeout
        if said is None or (group.timeout is not None and not self.annotations_first):
            return instead
        seconds = go_seconds(said.value)
        if seconds is None:
            what = f"{shown(said.value)} is not a duration above 0: {instead}s is used"
            notes.warn(said.where, what)
            return instead
        return seconds


def _names_itself(found: FoundGang) -> bool:
    """
    Tell whether pods name the gang by annotation, which needs no PodGroup.
    """
    return any(GANG_NAME in pod.annotations for pod in found.speakers)


def _timed_out(found: FoundGang, group: GroupFields) -> bool:
    """
    Tell whether a pod that has not started, or the PodGroup, is marked as timed out.
    """
    if group.annotations.get(GANG_TIMEOUT) == "true":
        return True
    return any(GANG_TIMEOUT in pod.annotations for pod in found.speakers) and any(
        pod.annotations.get(GANG_TIMEOUT) == "true"
        for pod in found.pods
        if pod.phase in _UNSTARTED
    )


def _sentence(rejected: str, standing: GroupStanding) -> str:
    """
    Say why a gang waits as Koordinator does: a failed check, or a rejection.
    """
    if standing.reason in {Reason.WAITING_FOR_PODS, Reason.WAITING_FOR_GROUP}:
        return f"{rejected} basic check failed: gang {standing.key} {standing.message}"
    return f"{rejected} is rejected: gang {standing.key} {standing.message}"


DIALECT = Koordinator()
