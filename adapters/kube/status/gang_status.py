"""
What is written of one gang: in its group's own words, on its pods, and as events.
"""

from collections.abc import Callable, Sequence

from adapters.kube.api.api_resources import Place
from adapters.kube.status.debounce import Steady
from adapters.kube.status.groups import GroupStatus, regarding
from adapters.kube.status.k8s_events import EVENTS, Notice, Regarding
from adapters.kube.status.pods import PodStatus
from adapters.kube.status.rate_limit import Wire
from adapters.kube.status.sayings import Saying
from adapters.kube.status.voice import Voice
from models.why.reasons import counted


class GangStatus:
    """
    Writes what there is to say of a gang, and none of it twice.

    ``is_outdated`` says that something newer is to be written.
    """

    def __init__(
        self, voice: Voice, wire: Wire, steady: Steady, is_outdated: Callable[[], bool]
    ) -> None:
        self._wire = wire
        self._steady = steady
        self._is_outdated = is_outdated
        self._notices = voice.notices
        self._groups = GroupStatus(wire, voice.dialects, self._event, voice.writing)
        self._pods = PodStatus(wire, voice.lookup)
        self._alone: dict[str, tuple[str, str | None]] = {}

    def write(self, saying: Saying) -> bool:
        """
        Say what there is to say of one gang; tell whether it is said.
        """
        self.tell_events(saying)
        if saying.open:
            return True  # what becomes of it, the next round says
        steady = self._steady.of(saying)
        whole = self._groups.write(steady.claim, steady.standing)
        if steady.claim.source is None:
            self._tell_of_it(steady)
        # Numbers that are not said yet are, as soon as they may.
        whole &= steady.message == saying.message
        return self._pods.write(steady, self._is_outdated) and whole

    def tell_events(self, saying: Saying) -> None:
        """
        Tell what happened to a gang.
        """
        for event in saying.events:
            self._event(self._about(saying), event)

    def _tell_of_it(self, saying: Saying) -> None:
        """
        Tell of a gang without an object of its own, once for each of its reasons.
        """
        standing, now = saying.standing, stands(saying)
        if self._alone.get(standing.key) == now:
            return
        self._alone[standing.key] = now
        if standing.binding:
            bound = counted(standing.binding, "pod")
            note = f"{bound} bound, {standing.minimum} needed"
            self._event(self._about(saying), ("Normal", "Scheduled", note))
        elif standing.reason is not None:
            said = {p.said.partition(":")[0] for p in self._pods.waiting(saying)}
            if said != {standing.reason}:  # else as before we were started
                event = ("Warning", "FailedScheduling", saying.message)
                self._event(self._about(saying), event)

    def _about(self, saying: Saying) -> Regarding | None:
        """
        Give the object that stands for a gang: its own, else its first pod.
        """
        if saying.claim.source is not None:
            return regarding(saying.claim.source)
        first = min((*saying.pods, *saying.bound), default=None)
        if first is None:
            return None
        namespace, _, name = first[0].partition("/")
        return Regarding(
            api_version="v1", kind="Pod", namespace=namespace, name=name, uid=first[1]
        )

    def _event(self, about: Regarding | None, event: tuple[str, str, str]) -> None:
        if about is None or not about.name:
            return
        place: Place = (EVENTS.group, EVENTS.version, EVENTS.plural, "", "")
        if self._wire.is_muted(place):
            return
        kind, reason, note = event
        notice = Notice(regarding=about, type=kind, reason=reason, note=note)
        written = self._notices.say(notice)
        if written is not None:
            place = (*place[:3], about.namespace, notice.name)
            self._wire.sent("event", place, written)

    def keep(self, every: Sequence[Saying]) -> None:
        """
        Remember nothing of gangs and pods that are gone.
        """
        keys = {saying.standing.key for saying in every}
        self._steady.keep(keys)
        self._alone = {k: said for k, said in self._alone.items() if k in keys}
        self._pods.keep({uid for saying in every for _, uid in saying.pods})
        self._groups.keep([saying.claim for saying in every])


def stands(saying: Saying) -> tuple[str, str | None]:
    """
    Give what people look for first: the state of a gang, and why it waits.
    """
    return saying.standing.state, saying.standing.reason
