"""
Gangs carried out by a few threads: gang by gang in the order of the plan.

The first operation of a gang goes ahead alone, so that what refuses the whole gang
refuses it before anything of it is bound.  A failure stops the rest of its gang; other
gangs go on.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from models.plan import Operation
from models.receipt import Receipt, Result

Deed = Callable[[Operation], Receipt]
WhyNot = Callable[[Operation], tuple[Result, str]]
NO_GROUPS: Mapping[str, str] = MappingProxyType({})
STOPPING = "Phalanx is stopping and begins no further gang"
THREADS = 8
"""
More threads bind fewer pods per second: they wait for one interpreter.
"""


def carry_out(
    operations: Sequence[Operation],
    deed: Deed,
    *,
    threads: int = THREADS,
    groups: Mapping[str, str] = NO_GROUPS,
    goes_on: Callable[[], bool] = lambda: True,
    why_not: WhyNot = lambda _: ("done", ""),
) -> list[Receipt]:
    """
    Carry operations out, and give a receipt for each of them, in their order.

    Parameters
    ----------
    operations
        What is to be done, in the order of the plan.
    deed
        Does one of them.
    threads
        How many are done at once.
    groups
        Gangs that start together with others, each with the name of the group: a
        failure stops all of it.
    goes_on
        Asked before a gang is begun; once it says no, those not begun are skipped.
    why_not
        Asked of each operation of a gang before that is begun: why none of it is done.
    """
    work = _Work(operations, groups, goes_on, why_not)
    crew = _begun(work, deed, min(threads, len(operations)) - 1)
    work.help(deed)
    for thread in crew:
        thread.join()
    if work.error is not None:
        raise work.error
    return [work.receipts[at] for at in range(len(operations))]


def _begun(work: "_Work", deed: Deed, number: int) -> list[threading.Thread]:
    """
    Begin so many threads that help; where no more are to be had, fewer.
    """
    crew: list[threading.Thread] = []
    for n in range(number):
        thread = threading.Thread(
            target=work.help, args=(deed,), name=f"bind-{n}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            break
        crew.append(thread)
    return crew


@dataclass(slots=True, eq=False)
class _GangWork:
    """
    The operations of one gang, or gang group, that are left, and what stopped it.
    """

    name: str
    left: deque[int] = field(default_factory=deque)
    failed: str = ""


class _Work:
    """
    What is left to do, shared by the threads.
    """

    def __init__(
        self,
        operations: Sequence[Operation],
        groups: Mapping[str, str],
        goes_on: Callable[[], bool],
        why_not: WhyNot,
    ) -> None:
        self.receipts: dict[int, Receipt] = {}
        self.error: BaseException | None = None
        self._operations = operations
        self._goes_on, self._why_not = goes_on, why_not
        self._changed = threading.Condition()
        gangs: dict[str, _GangWork] = {}
        for at, operation in enumerate(operations):
            name = groups.get(operation.gang, operation.gang)
            gang = gangs.setdefault(name, _GangWork(name))
            gang.left.append(at)
        self._gangs = deque(gangs.values())
        self._waiting: dict[str, _GangWork] = {}
        self._open: deque[_GangWork] = deque()

    def help(self, deed: Deed) -> None:
        """
        Take one operation after the other until nothing is left.
        """
        while (taken := self._take()) is not None:
            gang, at, all_of_it = taken
            try:
                receipt = self._refused(all_of_it) or deed(self._operations[at])
            except BaseException as error:  # noqa: BLE001 - raised by who waits for us
                self._break(error)
                return
            self._give(gang, at, receipt)

    def _refused(self, first: Sequence[int]) -> Receipt | None:
        """
        Refuse the first operation of a gang where there is something in the way of any.
        """
        for at in first:
            result, why = self._why_not(self._operations[at])
            if result != "done":
                step = self._operations[first[0]]
                return Receipt(operation=step, result=result, message=why)
        return None

    def _take(self) -> tuple[_GangWork, int, Sequence[int]] | None:
        """
        Give the next operation, those of begun gangs first; none at the end.

        With the first of a gang come all of it.
        """
        with self._changed:
            while self.error is None:
                if self._open:
                    gang = self._open[0]
                    at = gang.left.popleft()
                    if not gang.left:
                        self._open.popleft()
                    return gang, at, ()
                if self._gangs and not self._goes_on():
                    for gang in self._gangs:
                        gang.failed = STOPPING
                        self._skip(gang)
                    self._gangs.clear()
                if self._gangs:
                    gang = self._gangs.popleft()
                    self._waiting[gang.name] = gang
                    every = tuple(gang.left)
                    return gang, gang.left.popleft(), every
                if not self._waiting:
                    return None
                self._changed.wait()
            return None

    def _give(self, gang: _GangWork, at: int, receipt: Receipt) -> None:
        with self._changed:
            self.receipts[at] = receipt
            led = self._waiting.pop(gang.name, None)
            if receipt.result != "done":
                gang.failed = gang.failed or receipt.message
                self._skip(gang)
            elif led is not None and gang.left:
                self._open.append(gang)
            self._changed.notify_all()

    def _skip(self, gang: _GangWork) -> None:
        if gang in self._open:
            self._open.remove(gang)
        for at in gang.left:
            self.receipts[at] = Receipt(
                operation=self._operations[at],
                result="skipped",
                message=f"not tried, since {gang.failed}",
            )
        gang.left.clear()

    def _break(self, error: BaseException) -> None:
        with self._changed:
            self.error = self.error or error
            self._changed.notify_all()
