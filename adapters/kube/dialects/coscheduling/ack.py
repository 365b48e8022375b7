"""
Alibaba ACK: labels of ``pod-group.scheduling.sigs.k8s.io``, PodGroups of two groups.

Labels win over annotations, and both over the PodGroup.  ``mode`` and ``total-number``
are Koordinator's; ACK does not read them, and neither do we.
"""

from collections.abc import Iterable

from adapters.kube.api.api_resources import Resource
from adapters.kube.dialects.coscheduling.answer import (
    KOORDINATOR_PHASES,
    PLUGIN_PHASES,
    answers,
)
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
    GANG_TOTAL,
    LIGHT_GROUPS,
    LIGHT_MIN,
    LIGHT_NAME,
    LIGHT_POLICY,
    POD_GROUP,
    SIGS,
    VERSION,
    X_K8S,
    FoundGang,
    KeyRules,
    annotation,
    label,
)
from adapters.kube.dialects.coscheduling.queues import Quotas, is_preemptible
from adapters.kube.dialects.coscheduling.shared import Family
from adapters.kube.dialects.coscheduling.text_values import (
    mates_of,
    minimum_of,
    policy_of,
)
from adapters.kube.dialects.protocol import Claim, GroupStanding, Part, Write
from models.gangs import MatchPolicy
from models.why.reasons import Reason

NAME = "ack"
SATISFIED = frozenset({"Scheduled", "Running", "Finished", "Failed"})
_MINIMUM = (label(LIGHT_MIN), annotation(GANG_MIN))
_GROUPS = (label(LIGHT_GROUPS), annotation(LIGHT_GROUPS), annotation(GANG_GROUPS))
_UNREAD = (annotation(GANG_MODE), annotation(GANG_TOTAL))
_RESOURCES: tuple[Resource, ...] = (
    Resource(group=X_K8S, version=VERSION, plural="podgroups", kind=POD_GROUP),
    Resource(group=SIGS, version=VERSION, plural="podgroups", kind=POD_GROUP),
)


class Ack(Family):
    """
    ACK's words; its quota trees are no part of its gangs.
    """

    __slots__ = ()
    name = NAME
    resources = _RESOURCES
    rules = KeyRules.ACK

    def read(self, found: FoundGang, quotas: Quotas) -> Claim:
        """
        Read one gang by labels, then by annotations.
        """
        return _claim(found, quotas)

    def answer(self, claim: Claim, standing: GroupStanding) -> Iterable[Write]:
        """
        Say what was decided, in ACK's counters, phases and messages.
        """
        version = claim.source.get("apiVersion") if claim.source else None
        group = X_K8S if str(version).startswith(X_K8S) else SIGS
        phases = PLUGIN_PHASES if group == X_K8S else KOORDINATOR_PHASES
        name = claim.key.partition("/")[2]
        sentence = f"rejected by podgroup {name}: {standing.message}"
        owned = phases if self.owns_status else None
        return answers(claim, standing, sentence, group, owned)


def _claim(found: FoundGang, quotas: Quotas) -> Claim:
    notes = GroupNotes(found.key)
    group = read_group(found.group, notes)
    check_names(found, notes)
    pods = found.speakers
    for word in _UNREAD:
        said = {word.of(pod.labels, pod.annotations) for pod in pods}
        if said | {word.of(group.labels, group.annotations)} != {None}:
            notes.warn(str(word), "ACK does not read it, so it is ignored")
    groups = said_by_pods(pods, _GROUPS, notes)
    mates = mates_of(first(notes, groups, said_by_group(group, _GROUPS)), notes)
    policy = _policy(found, group, notes)
    return Claim(
        key=found.key,
        dialect=NAME,
        tree=Part(minimum=_minimum(found, group, notes)),
        queue=quotas.queue_of_gang(pods, notes),
        preemptible=is_preemptible(pods),
        created=created_at(group, found.pods),
        mates=mates,
        match_policy=policy,
        once_satisfied=group.phase in SATISFIED,
        over=group.over,
        min_resources=group.min_resources,
        waiting_time=group.timeout,
        source=found.group,
        refused=notes.refused,
        warnings=tuple(notes.warnings),
    )


def _minimum(found: FoundGang, group: GroupFields, notes: GroupNotes) -> int | None:
    by_pods = said_by_pods(found.speakers, _MINIMUM, notes)
    said = first(notes, by_pods, said_in_spec(group.minimum, "spec.minMember"))
    if said is not None:
        return minimum_of(said, notes)
    named_here = any(
        LIGHT_NAME in pod.labels or GANG_NAME in pod.annotations
        for pod in found.speakers
    )
    if found.group is None and not named_here:
        missing(found, notes)
    else:
        what = "not set, and the gang has no other minimum"
        notes.refuse(Reason.INVALID_GANG, f"label {LIGHT_MIN}", what)
    return None


def _policy(
    found: FoundGang, group: GroupFields, notes: GroupNotes
) -> MatchPolicy | None:
    """
    Read the match policy: by label any, by annotation ``once-satisfied`` alone.

    A gang that only annotations describe counts so, too; else nothing is said.
    """
    words = (label(LIGHT_POLICY),)
    by_label = first(
        notes, said_by_pods(found.speakers, words, notes), said_by_group(group, words)
    )
    if by_label is not None:
        return policy_of(by_label, tuple(MatchPolicy), None, notes)
    noted = said_by_pods(found.speakers, (annotation(GANG_POLICY),), notes)
    if noted is not None or _by_annotation(found):
        once = MatchPolicy.ONCE_SATISFIED
        return policy_of(_or_nothing(noted), (once,), once, notes)
    return None


def _or_nothing(said: GroupSaid | None) -> GroupSaid:
    return said if said is not None else GroupSaid("", "")


def _by_annotation(found: FoundGang) -> bool:
    """
    Tell whether annotations alone name a gang.
    """
    return found.group is None and all(
        GANG_NAME in pod.annotations and LIGHT_NAME not in pod.labels
        for pod in found.speakers
    )


ACK = Ack()
