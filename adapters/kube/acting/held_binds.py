"""
Binds that something else comes before: volumes that are made, or another binder's work.
"""

from collections.abc import Callable, Mapping, Sequence

from adapters.kube.acting.devices.bind_request_binder import BindRequestBinder
from adapters.kube.acting.gangs_on_hold import HeldGang, are_behind
from adapters.kube.acting.operations import Deeds
from adapters.kube.acting.volume_binder import Act, VolumeBinder
from adapters.kube.watch.cache import Cache
from adapters.loop.interfaces import Turn
from adapters.loop.memory.promises import Promise
from models.memory.aged_gangs import by_name
from models.plan import Operation
from models.receipt import Receipt
from models.snapshot import Snapshot
from models.why.reasons import Waiting

Run = Callable[[Sequence[Operation], Act], list[Receipt]]


class HeldBinds:
    """
    Holds gangs until their volumes are there, then until KAI's binder has bound them.
    """

    def __init__(self, deeds: Deeds, cache: Cache) -> None:
        self._cache = cache
        self._whole = deeds.devices.whole
        self._volumes = VolumeBinder(deeds, cache)
        self._requests = BindRequestBinder(deeds, cache)

    @property
    def promised(self) -> tuple[Promise, ...]:
        """
        Give what is promised to the pods that are held.
        """
        return tuple(map(Promise.of, (*self._volumes.steps, *self._requests.steps)))

    def clear(self) -> None:
        """
        Forget what was held: somebody else may have led since.
        """
        for step in (*self._volumes.steps, *self._requests.steps):
            self._cache.forget(step.pod)
        self._volumes.clear()
        self._requests.clear()

    def turn(self, binds: Sequence[Operation]) -> None:
        """
        Begin with the binds of another plan.
        """
        self._whole.turn(binds)
        self._volumes.turn(binds)
        self._requests.turn()

    def notes(self, step: Operation) -> Mapping[str, str] | None:
        """
        Give what a pod will be told of its devices by another binder, if by one.
        """
        return self._requests.notes(step)

    def looked(self, snapshot: Snapshot, pause: Waiting | None) -> None:
        """
        Give up gangs that may not begin now.
        """
        gangs = by_name(snapshot.gangs)
        self._volumes.looked(gangs, pause)
        self._requests.looked(gangs, pause)

    def due(self) -> Turn | None:
        """
        Give the binds of a gang that was held and can be ended now.
        """
        return self._volumes.due() or self._requests.due()

    def ended(self, name: str, binds: Sequence[Operation]) -> Sequence[Receipt] | None:
        """
        Give the receipts of a gang that was held in vain; empty where it can go on.

        Those of other binds are of a plan before, whose end could not be stored.
        """
        ended = self._volumes.ended(name)
        ended = self._requests.ended(name) if ended is None else ended
        told = {receipt.operation for receipt in ended or ()}
        return ended if ended is None or told.issuperset(binds) else ()

    def lacks(self, binds: Sequence[Operation], *, are_new: bool) -> bool:
        """
        Tell whether something comes before some binds, or their gang's start is held.
        """
        if self._volumes.lacks(binds) or self._requests.lacks(binds):
            return True
        held: list[HeldGang] = [*self._volumes.held, *self._requests.held]
        return are_new and are_behind(held, binds)

    def begin(
        self, name: str, turn: Turn, binds: Sequence[Operation], run: Run
    ) -> list[Receipt]:
        """
        Begin with what comes first, and hold the gang.
        """
        if self._volumes.lacks(binds) or are_behind(self._volumes.held, binds):
            return self._volumes.begin(name, turn, binds, run)
        return self._requests.begin(name, turn, binds, run)

    def is_bound(self, step: Operation) -> bool:
        """
        Tell whether another binder has bound a pod already.
        """
        return self._requests.is_bound(step)

    def sweep(self) -> None:
        """
        Take back what nobody carries out.
        """
        self._requests.sweep()
