"""
Gangs whose volumes come first: claims told how they get theirs, pods bound when all do.

A claim that waits for its first pod is told the node of that pod, or gets a volume that
is free there, as the scheduler of Kubernetes does.  All claims of a gang are told
before any of its pods is bound, and the pods count as bound meanwhile.  Where the
volumes do not come, or not in time, the claims are let go, and the gang waits again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.kube.acting.claim_teller import ClaimTeller, ToldClaims
from adapters.kube.acting.gangs_on_hold import HeldGang, HeldGangs, are_behind
from adapters.kube.acting.may_begin import why_not_begun
from adapters.kube.acting.operations import NO_ANSWER, Answer, Deeds
from adapters.kube.acting.pod_claims import PodClaims
from adapters.kube.objects.volume_records import ClaimRecord
from adapters.kube.watch.cache import Cache
from adapters.loop.interfaces import Turn
from models.gangs import Gang, PodPhase
from models.plan import Operation
from models.receipt import Receipt
from models.why.reasons import Reason, Waiting

WITHIN = 600.0
"""
The seconds that volumes may take, as the scheduler of Kubernetes has it.
"""
_HOLD = 60.0
"""
The seconds beyond them for which its pods count as bound unless it ends before.
"""


@dataclass(slots=True, eq=False)
class _WaitingGang(HeldGang):
    """
    Binds of one gang, or gang group, that wait for volumes; it may grow meanwhile.

    ``claims`` has the uids of those that its pods mount.
    """

    told: ToldClaims
    claims: dict[str, str]


class VolumeBinder(HeldGangs[_WaitingGang]):
    """
    Holds gangs until their claims are bound, at most for ``within`` seconds.
    """

    def __init__(
        self,
        deeds: Deeds,
        cache: Cache,
        *,
        within: float = WITHIN,
    ) -> None:
        super().__init__()
        self._deeds = deeds
        self._cache = cache
        self._claims = PodClaims(cache)
        self._teller = ClaimTeller(deeds, cache, self._claims)
        self._within = within

    def turn(self, steps: Sequence[Operation]) -> None:
        """
        Begin with the binds of another plan.
        """
        self._teller.turn(steps, (held.told for held in self.held))

    def lacks(self, steps: Sequence[Operation]) -> bool:
        """
        Tell whether claims of some pods must be bound first.
        """
        return self._claims.lack(steps)

    def begin(
        self,
        name: str,
        turn: Turn,
        steps: Sequence[Operation],
        carry_out: Callable[[Sequence[Operation], "Act"], list[Receipt]],
    ) -> list[Receipt]:
        """
        Tell all claims of a gang their nodes, and hold its pods; else let go of all.
        """
        nodes, claims = dict[str, str](), dict[str, str]()
        for step in steps:
            for key, claim, _ in self._claims.of(step):
                claims[key] = "" if claim is None else claim.uid
                if claim is None or not claim.is_bound:
                    nodes.setdefault(key, step.node)
        now, told = self._deeds.clock(), ToldClaims(nodes)
        held = _WaitingGang(name, turn.of(steps), tuple(steps), now, told, claims)
        receipts = carry_out(
            steps, lambda step: self._deeds.done(step, lambda s: self._told(held, s))
        )
        if any(receipt.result != "done" for receipt in receipts):
            self._teller.let_go(held.told)
            return [_not_bound(receipt) for receipt in receipts]
        self.held.append(held)
        self._keep(held)
        message = "its claims name its node; it is bound once they have volumes"
        why = Waiting(Reason.WAITING_FOR_VOLUMES, {"detail": message})
        return [
            replace(one, result="held", message=message, waiting=why)
            for one in receipts
        ]

    def looked(self, gangs: Mapping[str, Gang], pause: Waiting | None) -> None:
        """
        Give up gangs that may not begin now, by what there is of them.
        """
        for held in [*self.held]:
            answer = why_not_begun(held.turn, gangs, pause)
            if answer != NO_ANSWER and not held.over:
                held.give_up(*answer)
                self._cache.changed.set()

    def due(self) -> Turn | None:
        """
        Give the binds of a gang whose volumes are there, or do not come.

        What it grew by while its start was held comes after that.
        """
        again = self._held_again()
        for at, held in enumerate([*self.held]):
            self._keep(held)
            behind = are_behind(self.held[:at], held.steps)
            is_over = held not in again and self._is_over(held)
            if is_over and (held.over or not behind):
                return self._end(held)
        return None

    def ended(self, name: str) -> Sequence[Receipt] | None:
        """
        Give the receipts of a gang that was given up; empty where it may be bound now.
        """
        held = self._ended.pop(name, None)
        if held is None or not held.over:
            return None if held is None else ()
        self._teller.let_go(held.told)
        return [
            Receipt(operation=step, result=held.result, message=held.over)
            for step in held.steps
        ]

    def _keep(self, held: _WaitingGang) -> None:
        """
        Let the pods count as bound for a while longer.
        """
        seconds = self._within + _HOLD
        for step in held.steps:
            self._cache.assume(step.pod, step.uid or "", step.node, seconds)

    def _told(self, held: _WaitingGang, step: Operation) -> Answer:
        """
        Tell the claims of a pod, those that are not told for another one.
        """
        for key, claim, number in self._claims.of(step):
            if claim is None:
                return "again", f"claim {key} is gone, or cannot be read"
            if claim.is_bound:
                continue
            answer = self._teller.tell(held.told, key, claim, number)
            if answer != NO_ANSWER:
                return answer
        return NO_ANSWER

    def _is_over(self, held: _WaitingGang) -> bool:
        """
        Tell whether all claims of a gang are bound, or it is given up.
        """
        bound = [self._is_bound(held, step) for step in held.steps if not held.over]
        if held.over or all(bound):
            return True
        if self._deeds.clock() > held.since + self._within:
            why = f"its volumes were not there within {self._within:.0f} s"
            held.give_up("refused", why)
        return bool(held.over)

    def _is_bound(self, held: _WaitingGang, step: Operation) -> bool:
        """
        Tell whether all claims of a pod are bound, or note why its gang is given up.
        """
        pods = [p for p in self._cache.pods_named([step.pod]) if p.uid == step.uid]
        if (answer := self._deeds.why_not_there(step)) != NO_ANSWER:
            held.give_up(*answer)
        elif not pods or pods[0].phase is not PodPhase.PENDING:
            held.give_up("again", f"pod {step.pod} is gone, or no longer waits")
        is_bound = not held.over
        for key, claim, number in self._claims.of(step) if is_bound else ():
            if claim is not None and number < held.told.claims.get(key, 0):
                is_bound = False  # what we wrote has not come back yet
            elif (answer := self._why_over(held, step, key, claim)) != NO_ANSWER:
                held.give_up(*answer)
                return False
            else:
                is_bound = is_bound and claim is not None and claim.is_bound
        return is_bound

    def _why_over(
        self, held: _WaitingGang, step: Operation, key: str, claim: ClaimRecord | None
    ) -> Answer:
        """
        Say why a claim cannot become what its pod needs; nothing where it can.
        """
        if claim is None:
            return "again", f"claim {key} is gone, or cannot be read"
        if claim.is_leaving or claim.uid != held.claims[key]:
            return "again", f"claim {key} is being deleted, or another one"
        if claim.is_bound:
            where = self._claims.why_elsewhere(claim, step)
            return ("again", f"claim {key}: {where}") if where else NO_ANSWER
        why = self._teller.why_over(held.told, key, claim)
        return ("refused", why) if why else NO_ANSWER


Act = Callable[[Operation], Receipt]


def _not_bound(receipt: Receipt) -> Receipt:
    """
    Say of what went well for a gang that it is of no use: the rest did not.
    """
    if receipt.result != "done":
        return receipt
    message = "not bound, since not all claims of its gang could be given their nodes"
    return replace(receipt, result="skipped", message=message)
