"""
The condition of pods without a node, where autoscalers and people look for it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

from adapters.kube.api.api_resources import Place
from adapters.kube.dialects.notes import moment
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.status.patches import PatchOutcome, patch_pod
from adapters.kube.status.rate_limit import Wire
from adapters.kube.status.sayings import Saying
from models.gangs import PodPhase

_KIND: Place = ("", "v1", "pods", "", "")
Lookup = Callable[[Iterable[str]], Sequence[PodRecord]]


class PodStatus:
    """
    Tells pods why they have no node, once.

    ``lookup`` gives the pods that the API server shows.  What we wrote counts until
    the watch brings the pod with it.
    """

    def __init__(self, wire: Wire, lookup: Lookup) -> None:
        self._wire = wire
        self._lookup = lookup
        self._told: dict[str, str] = {}

    def write(self, saying: Saying, is_outdated: Callable[[], bool]) -> bool:
        """
        Tell those who do not say it yet; no when it must be looked at again.
        """
        if self._wire.is_muted(_KIND):
            return True
        when = moment(saying.standing.now)
        for pod in self.waiting(saying):
            if self._known(pod) == saying.message:
                continue
            if is_outdated():
                return False
            place: Place = ("", "v1", "pods", pod.namespace, pod.name)
            written = patch_pod(
                self._wire.transport, pod.key, pod.uid, saying.message, when
            )
            outcome = self._wire.sent("pod", place, written)
            if outcome in {PatchOutcome.DONE, PatchOutcome.INVALID}:
                self._told[pod.uid] = saying.message
            elif outcome is PatchOutcome.FORBIDDEN:
                return True
        return True

    def waiting(self, saying: Saying) -> list[PodRecord]:
        """
        List the pods of a gang that still are as the round saw them.
        """
        if not saying.pods:
            return []
        uids = dict(saying.pods)
        return [pod for pod in self._lookup(uids) if _waits(pod, uids[pod.key])]

    def _known(self, pod: PodRecord) -> str:
        """
        Give what a pod says, as far as the server has told us of it or answered.
        """
        if self._told.get(pod.uid) == pod.said:
            del self._told[pod.uid]  # the watch has brought it
        return self._told.get(pod.uid, pod.said)

    def keep(self, uids: Collection[str]) -> None:
        """
        Forget the pods that wait no longer.
        """
        self._told = {uid: said for uid, said in self._told.items() if uid in uids}


def _waits(pod: PodRecord, uid: str) -> bool:
    return pod.uid == uid and pod.node is None and pod.phase is PodPhase.PENDING
