"""
Gangs that KAI's binder binds: BindRequests written, one of each group at a time.

The binder keeps a GPU for each group with a pod of its own, labels our pod and binds
it.  A gang is held until all of its pods are bound so, and those that share no GPU are
bound then.  Where a request fails, or takes too long, those of the gang that are not
carried out yet are taken back, and the gang waits again.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from adapters.kube.acting.devices.bind_request_writer import BindRequestWriter
from adapters.kube.acting.devices.gpu_groups import GpuGroups
from adapters.kube.acting.devices.handed_gangs import HandedGang, HandedGangs, too_long
from adapters.kube.acting.gangs_on_hold import HeldGangs
from adapters.kube.acting.may_begin import why_not_begun
from adapters.kube.acting.operations import NO_ANSWER, Answer, Deeds
from adapters.kube.objects.bind_requests import BindRequestRecord
from adapters.kube.objects.fields import moment_of
from adapters.kube.objects.parts.kai_parts import notes_of_groups
from adapters.kube.watch.cache import Cache
from adapters.loop.interfaces import Turn
from models.gangs import Gang
from models.plan import Operation
from models.receipt import Receipt
from models.why.reasons import Reason, Waiting

_log = logging.getLogger(__name__)
WITHIN = 300.0
"""
The seconds that the binder may take for a gang; it waits for pods that keep GPUs.
"""
_HOLD = 60.0
"""
The seconds beyond them for which its pods count as bound unless it ends before.
"""
_AT_A_TIME = 32
Act = Callable[[Operation], Receipt]


class BindRequestBinder(HeldGangs[HandedGang]):
    """
    Holds gangs until KAI's binder has bound their pods, at most ``within`` seconds.
    """

    def __init__(
        self,
        deeds: Deeds,
        cache: Cache,
        *,
        within: float = WITHIN,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._writer = BindRequestWriter(deeds.transport)
        self._deeds = deeds
        self._cache = cache
        self._groups = GpuGroups(cache)
        self._gangs = HandedGangs(cache, self._groups, within)
        self._now = now

    def turn(self) -> None:
        """
        Begin with another plan.
        """
        self._groups.turn()

    def notes(self, step: Operation) -> Mapping[str, str] | None:
        """
        Say which groups a pod will be in; nothing where it shares no GPU as KAI does.
        """
        if self._groups.pod(step) is None:
            return None
        return notes_of_groups(self._groups.of(step))

    def lacks(self, steps: Sequence[Operation]) -> bool:
        """
        Tell whether the binder must bind some pods first.
        """
        found = map(self._groups.pod, steps)
        return any(pod is not None and pod.node is None for pod in found)

    def is_bound(self, step: Operation) -> bool:
        """
        Tell whether the binder has bound a pod where the plan wants it.
        """
        return self._gangs.is_bound(step)

    def begin(
        self,
        name: str,
        turn: Turn,
        steps: Sequence[Operation],
        carry_out: Callable[[Sequence[Operation], Act], list[Receipt]],
    ) -> list[Receipt]:
        """
        Write the first requests of a gang, and hold its pods; else let go of all.
        """
        shared = [step for step in steps if self._groups.pod(step) is not None]
        groups = {step.pod: self._groups.of(step) for step in shared}
        now = self._deeds.clock()
        held = HandedGang(name, turn.of(steps), tuple(steps), now, groups)
        busy = self._gangs.busy(self.held, self._groups.requests())
        first = self._gangs.next(held, busy)
        _take(held, carry_out(first, lambda step: self._ask(held, step)))
        if held.over:
            return self._given_up(held)
        self.held.append(held)
        self._keep(held)
        message = "KAI's binder was asked to bind it"
        why = Waiting(Reason.WAITING_FOR_DEVICES, {"detail": message})
        return [
            Receipt(operation=step, result="held", message=message, waiting=why)
            for step in steps
        ]

    def looked(self, gangs: Mapping[str, Gang], pause: Waiting | None) -> None:
        """
        Give up gangs that may not begin now, unless the binder has begun to bind them.
        """
        for held in [*self.held]:
            answer = why_not_begun(held.turn, gangs, pause)
            if answer != NO_ANSWER and not any(map(self.is_bound, held.steps)):
                held.give_up(*answer)
                self._cache.changed.set()

    def due(self) -> Turn | None:
        """
        Give the binds of a gang whose pods the binder has bound, or cannot bind.

        Requests whose turn has come are written meanwhile, so many at a time.
        """
        again = self._held_again()
        requests = self._groups.requests() if self.held else {}
        busy = self._gangs.busy(self.held, requests)
        left = _AT_A_TIME
        for held in [*self.held]:
            self._gangs.look(held, requests, self._deeds.clock())
            for step in held.steps:
                answer = self._deeds.why_not_there(step)
                if answer != NO_ANSWER and not self.is_bound(step):
                    held.give_up(*answer)
            if not held.over:
                some = self._gangs.next(held, busy)[:left]
                left -= len(some)
                _take(held, [self._ask(held, step) for step in some])
            self._keep(held)
            is_over = held.over or self._gangs.is_done(held, self.held)
            if is_over and held not in again:
                return self._end(held)
        return None

    def ended(self, name: str) -> list[Receipt] | None:
        """
        Give the receipts of a gang that was given up; empty where the rest is bound.
        """
        if (held := self._ended.pop(name, None)) is None:
            return None
        return self._given_up(held) if held.over else []

    def sweep(self) -> None:
        """
        Take back what we asked for, or who led before us, and nobody carries out.
        """
        held = {step.pod for step in self.steps}
        for request in self._groups.requests().values():
            if not request.is_ours or request.pod in held:
                continue
            pods = self._cache.pods_named([request.pod])
            if not pods or pods[0].node is not None:
                continue
            if why := self._why_stale(request):
                fields = {"pod": request.pod, "node": request.node, "error": why}
                _log.warning("bind_request_taken_back", extra={"fields": fields})
                self._writer.take_back(request.pod, request.uid)

    def _why_stale(self, request: BindRequestRecord) -> str:
        if not request.is_active:
            return request.reason or "it failed"
        made, within = moment_of(request.created), self._gangs.within
        is_late = made is not None and self._now() - made > within
        return too_long(within) if is_late else ""

    def _keep(self, held: HandedGang) -> None:
        """
        Let the pods count as bound for a while longer.
        """
        seconds = self._gangs.within + _HOLD
        for step in held.steps:
            groups = held.groups.get(step.pod)
            notes = None if groups is None else notes_of_groups(groups)
            self._cache.assume(step.pod, step.uid or "", step.node, seconds, notes)

    def _ask(self, held: HandedGang, step: Operation) -> Receipt:
        return self._deeds.done(step, lambda s: self._written(held, s))

    def _written(self, held: HandedGang, step: Operation) -> Answer:
        pod = self._groups.pod(step)
        if pod is None or pod.node is not None:
            return NO_ANSWER  # what became of it is seen later
        memory = self._groups.memory(step.node)
        return self._writer.write(step, pod, held.groups[step.pod], memory)

    def _given_up(self, held: HandedGang) -> list[Receipt]:
        """
        Take back the requests that are not carried out, and say what became of each.

        Those that are of no use from before as well, so that one attempt meets them.
        """
        receipts = []
        requests = self._groups.requests()
        for step in held.steps:
            if self.is_bound(step):
                receipts.append(Receipt(operation=step, result="done"))
                continue
            request = requests.get(step.pod)
            if request is None and step.pod in held.asked:
                self._writer.take_back(step.pod)
            elif request is not None and (request.is_ours or not request.is_active):
                self._writer.take_back(step.pod, request.uid)
            receipts.append(
                Receipt(operation=step, result=held.result, message=held.over)
            )
        return receipts


def _take(held: HandedGang, receipts: Iterable[Receipt]) -> None:
    """
    Note who was asked for, and what went wrong.
    """
    for receipt in receipts:
        held.asked.add(receipt.operation.pod)
        if receipt.result != "done":
            held.give_up(receipt.result, receipt.message)
