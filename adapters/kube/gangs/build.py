"""
Claims and pods to gangs: priority, queue, tree, and what keeps a gang from planning.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from adapters.kube.dialects.defaults import Defaults, defaults_of
from adapters.kube.dialects.notes import priority_classes
from adapters.kube.dialects.protocol import Claim, Objects
from adapters.kube.gangs.agreed import priority_of, queue_of
from adapters.kube.gangs.devices.claimed_devices import ClaimedDevices
from adapters.kube.gangs.devices.claiming_members import with_devices
from adapters.kube.gangs.holds import hold_of
from adapters.kube.gangs.kept_in_place import kept_in_place, said_of
from adapters.kube.gangs.membership import Grouped
from adapters.kube.gangs.pod_neighbours import Around
from adapters.kube.gangs.queues import Homes
from adapters.kube.gangs.storage.pod_volumes import Volumes
from adapters.kube.gangs.workloads.leaves import Member, ages, elapsed, with_labels
from adapters.kube.gangs.workloads.trees import TreeError, plain_tree, tree_of
from adapters.kube.objects.fields import shown
from adapters.kube.objects.object_names import is_subdomain
from adapters.kube.objects.pod_record import PodRecord
from models.documents.written import is_name
from models.gangs import FINISHED, Gang, PodPhase, Tree
from models.neighbours import ALONE
from models.why.reasons import Reason, Waiting

_MOST_WARNINGS = 20
_WAITING = (PodPhase.PENDING, PodPhase.GATED)
_FOR_GOOD = (
    Reason.NAMESPACE_ENDING,
    Reason.INVALID_GANG,
    Reason.CONFIG_CONFLICT,
    Reason.UNSUPPORTED_CONSTRAINT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeGang:
    """
    A gang with what it was made of, and the whole seconds of when that was.

    It ``lasts`` where time alone makes it older and changes nothing else.  A ``guest``
    names no queue, and is in the one that is made up.
    """

    group: Grouped
    gang: Gang
    seen: int
    lasts: bool
    guest: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settled:
    """
    What was found out of a gang beside what its claim says.
    """

    tree: Tree
    queue: str
    priority: int
    refused: Waiting | None


class GangMaker:
    """
    Makes the gangs of one look at a namespace; ``volumes`` are those of its pods.
    """

    def __init__(
        self,
        objects: Objects,
        homes: Homes,
        apart: Around,
        now: int,
        volumes: Volumes,
        devices: ClaimedDevices,
    ) -> None:
        self._classes = priority_classes(objects)
        self.volumes = volumes
        self.devices = devices
        self._homes = homes
        self._apart = apart
        self._now = now

    def made(self, group: Grouped) -> MadeGang:
        """
        Make one gang; what is wrong with it is its reason to wait.

        Of several faults the one of the first pod by name is told.
        """
        able, held = self._without_held(group)
        staying = self._staying(able)
        gang, guest = self._gang(able, staying)
        return MadeGang(
            group=group,
            gang=gang,
            seen=self._now,
            lasts=_lasts(group, self._now),
            guest=guest,
            warnings=(
                *held,
                *said_of(staying),
                *_warned(group.claim),
            ),
        )

    def _gang(self, group: Grouped, staying: Mapping[str, str]) -> tuple[Gang, bool]:
        """
        Make a gang, and tell whether it is in the queue that is made up.
        """
        claim = group.claim
        plain = defaults_of(claim.dialect)
        tree, broken = self._tree(claim.key.partition("/")[2], group, staying)
        priority, unclear = priority_of(claim, plain, group.members, self._classes)
        queue, torn = queue_of(claim, group.members)
        guest = not queue and self._homes.is_guest(plain)
        if not queue:
            queue = self._homes.of(plain)
        if torn is None and not is_name(queue):
            detail = f"the queue {shown(queue)} is not a name"
            torn = Waiting(Reason.INVALID_GANG, {"detail": detail})
        if not guest:
            torn = torn or self._homes.lost(queue)
        settled = _Settled(
            tree=tree,
            queue=queue,
            priority=priority,
            refused=self._why_refused(group, broken or unclear or torn),
        )
        return _claimed(group, plain, settled, self._now), guest

    def _why_refused(self, group: Grouped, found: Waiting | None) -> Waiting | None:
        """
        Say why a gang cannot be planned, what holds for good first.
        """
        refused, name = group.claim.refused, group.claim.key.partition("/")[2]
        if refused is None or refused.reason not in _FOR_GOOD:
            refused = self._fault(group, found) or refused
        if refused is None and not is_subdomain(name):
            detail = f"metadata.name: {shown(name)} is not a valid Kubernetes name"
            return Waiting(Reason.INVALID_GANG, {"detail": detail})
        return refused

    def _without_held(self, group: Grouped) -> tuple[Grouped, list[str]]:
        """
        Hold back pods that wait for volumes, where enough others can start.

        Say why.
        """
        held = dict(self._without_volumes(group))
        least = group.claim.tree.minimum
        alive = sum(member.pod.phase not in FINISHED for member in group.members)
        if not held or least is None or alive - len(held) < least:
            return group, []
        first, more = next(iter(held)), len(held) - 1
        others = f" and {more:,} more" if more else ""
        said = [f"pod {first}{others} cannot start: {held[first]}"]
        gated = {
            member.pod.key: replace(
                member, pod=replace(member.pod, phase=PodPhase.GATED, volumes=())
            )
            for member in group.members
            if member.pod.key in held
        }
        members = [gated.get(member.pod.key, member) for member in group.members]
        return replace(group, members=members), said

    def _tree(
        self, name: str, group: Grouped, staying: Mapping[str, str]
    ) -> tuple[Tree, Waiting | None]:
        members = _with_neighbours(self._apart, group.members)
        members = self._with_volumes(members)
        members = with_labels(group.claim.nodes, members)
        claim = group.claim
        try:
            members = with_devices(self.devices, members, claim.tree)
            members = kept_in_place(staying, members)
            policy = claim.match_policy or defaults_of(claim.dialect).match_policy
            return tree_of(name, claim.tree, members, self._now, policy), None
        except TreeError as error:
            return plain_tree(name, members, self._now), error.waiting

    def _with_volumes(self, members: list[Member]) -> list[Member]:
        """
        Let pods demand nodes where they can have their volumes, and of free ones some.
        """
        if not any(member.pod.volumes for member in members):
            return members
        return [
            replace(
                m,
                pod=self.volumes.placed(m.pod),
                neighbours=self.volumes.beside(m.pod, m.neighbours),
            )
            if m.pod.volumes and m.pod.phase not in FINISHED
            else m
            for m in members
        ]

    def _refused(self, group: Grouped) -> Waiting | None:
        for reason, found in (
            (Reason.INVALID_GANG, _invalid(group)),
            (Reason.CONFIG_CONFLICT, iter([group.conflict])),
            (Reason.UNSUPPORTED_CONSTRAINT, self._unsupported(group)),
            (Reason.WAITING_FOR_VOLUMES, self._no_volumes(group)),
            (Reason.WAITING_FOR_DEVICES, self.devices.lacking(group.pods)),
        ):
            detail = next(filter(None, found), None)
            if detail is not None:
                return Waiting(reason, {"detail": detail})
        return None

    def _fault(self, group: Grouped, known: Waiting | None) -> Waiting | None:
        """
        Give what keeps a gang from planning: as it is written, then who holds it.
        """
        found = known or self._refused(group)
        if found is not None and found.reason in _FOR_GOOD:
            return found
        return hold_of(group.claim, group.pods) or found

    def _unsupported(self, group: Grouped) -> Iterator[str | None]:
        """
        Find what the pods that wait ask for and we do not model.
        """
        for member in group.members:
            if member.pod.phase in _WAITING:
                yield self._not_planned(member.pod)
        yield self._apart.reasons.get(group.claim.key)

    def _not_planned(self, pod: PodRecord) -> str | None:
        if pod.unsupported:
            return f"pod {pod.name}, {pod.unsupported[0]}"
        return self.devices.unsupported(pod)

    def _staying(self, group: Grouped) -> dict[str, str]:
        """
        Find the pods that run and could not be placed anew.
        """
        pods = [pod for pod in group.pods if pod.phase is PodPhase.RUNNING]
        why = {pod.key: self._why_stays(pod) for pod in pods}
        return {key: said for key, said in why.items() if said}

    def _why_stays(self, pod: PodRecord) -> str | None:
        why = self._not_planned(pod) or self._apart.kept.get(pod.key)
        fault = self.volumes.fault(pod) if pod.volumes and why is None else None
        return why if fault is None else f"pod {pod.name}, {fault}"

    def _no_volumes(self, group: Grouped) -> Iterator[str]:
        for key, fault in self._without_volumes(group):
            yield f"pod {key.rpartition('/')[2]}, {fault}"

    def _without_volumes(self, group: Grouped) -> Iterator[tuple[str, str]]:
        """
        Find the pods that wait for volumes, and what each lacks.
        """
        for member in group.members:
            pod = member.pod
            if pod.volumes and pod.phase is PodPhase.PENDING:
                fault = self.volumes.fault(pod)
                if fault is not None:
                    yield pod.key, fault


def _claimed(group: Grouped, plain: Defaults, settled: _Settled, now: int) -> Gang:
    """
    Make a gang of what its claim says, and its system where it says nothing.
    """
    claim = group.claim
    namespace, _, name = claim.key.partition("/")
    preemptible = claim.preemptible
    if preemptible is None:
        least = plain.preemptible_below
        preemptible = least is None or settled.priority < least
    return Gang(
        name=name,
        namespace=namespace,
        tree=settled.tree,
        queue=settled.queue,
        priority=settled.priority,
        preemptible=preemptible,
        age=elapsed(_created(claim, group.members), now),
        mates=tuple(sorted(set(claim.mates))),
        match_policy=claim.match_policy or plain.match_policy,
        mode=claim.mode,
        once_satisfied=claim.once_satisfied,
        timed_out=claim.timed_out,
        backoff=claim.backoff,
        min_resources=claim.min_resources,
        waiting_time=claim.waiting_time,
        max_runtime=_max_runtime(group.members),
        stale_after=_or(claim.stale_after, plain.stale_after),
        stale_since=_ago(claim.stale_since, now),
        refused=settled.refused,
    )


def _lasts(group: Grouped, now: int) -> bool:
    """
    Tell whether time changes nothing of a gang but its age, and that of its pods.
    """
    claim = group.claim
    times = [_created(claim, group.members)]
    times += [] if claim.stale_since is None else [claim.stale_since]
    for member in group.members:
        pod = member.pod
        if pod.phase is PodPhase.RUNNING:
            times.append(pod.created if pod.started is None else pod.started)
        elif pod.phase is PodPhase.TERMINATING:
            times.append(pod.deleted)
    return all(since is not None and ages(since, now) for since in times)


def _max_runtime(members: Iterable[Member]) -> int | None:
    """
    Give after how long every pod of a gang is ended, if each says so.
    """
    pods = (member.pod for member in members)
    limits = [pod.run_limit for pod in pods if pod.phase not in FINISHED]
    known = [limit for limit in limits if limit is not None]
    return max(known) if known and len(known) == len(limits) else None


def _or(said: int | None, plain: int | None) -> int | None:
    return plain if said is None else said


def _ago(since: int | None, now: int) -> int | None:
    return None if since is None else elapsed(since, now)


def _warned(claim: Claim) -> Iterator[str]:
    """
    Say what is odd of a claim; nobody reads a thousand lines about one.
    """
    first, rest = claim.warnings[:_MOST_WARNINGS], claim.warnings[_MOST_WARNINGS:]
    yield from (f"{claim.key}: {each}" for each in first)
    if rest:
        yield f"{claim.key}: {len(rest):,} more of these are not shown"


def _invalid(group: Grouped) -> Iterator[str]:
    for member in group.members:
        if member.pod.invalid:
            yield f"pod {member.pod.name}, {member.pod.invalid[0]}"


def _created(claim: Claim, members: list[Member]) -> float | None:
    if claim.created is not None:
        return claim.created
    times = [m.pod.created for m in members if m.pod.created is not None]
    return min(times, default=None)


def _with_neighbours(apart: Around, members: list[Member]) -> list[Member]:
    """
    Say of pods who is around them.
    """
    alone, said = apart.exclusive, apart.said
    if not alone and not said:
        return members
    return [
        replace(m, exclusive=m.pod.key in alone, neighbours=said.get(m.pod.key, ALONE))
        for m in members
    ]
