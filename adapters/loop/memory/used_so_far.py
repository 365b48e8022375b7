"""
Usage: what each queue used beyond its quota so far, the older the less.

It decides nothing: planning reads it as a field of the queues.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from models.memory.usage_hours import used_later
from models.queues import Queue

Amounts = Mapping[str, Mapping[str, int]]
_Rows = dict[str, dict[str, Annotated[int, Field(strict=True, ge=0)]]]


class _StoredUsage(BaseModel):
    """
    What was kept; fields of another version are passed by.
    """

    until: Annotated[float, Field(allow_inf_nan=False)] | None
    used: _Rows
    uses: _Rows
    half_life: Annotated[int, Field(strict=True, gt=0)] | None = None


class UsageMemory:
    """
    What queues used until a moment, and what they use from then on.

    Without a half-life nothing is remembered.
    """

    def __init__(self, half_life: int | None = None) -> None:
        self.half_life = half_life
        self._until: float | None = None
        self._used: dict[str, dict[str, int]] = {}
        self._uses: Amounts = {}

    def note(self, uses: Amounts, now: float) -> None:
        """
        Let queues use so much from now on.
        """
        self._pass(now)
        self._uses = uses

    def applied(self, queues: Sequence[Queue], now: float) -> tuple[Queue, ...]:
        """
        Give queues with what they used until now; others are forgotten.
        """
        if self.half_life is None:
            return tuple(queues)
        self._pass(now)
        names = {queue.name for queue in queues}
        self._used = {name: row for name, row in self._used.items() if name in names}
        return tuple(
            replace(queue, usage=dict(row))
            if (row := self._used.get(queue.name))
            else queue
            for queue in queues
        )

    def _pass(self, now: float) -> None:
        """
        Let time pass; a clock that was set back lets none pass.
        """
        since, half_life = self._until, self.half_life
        self._until = now
        if since is None or half_life is None or now <= since:
            return
        used: dict[str, dict[str, int]] = {}
        for queue in sorted({*self._used, *self._uses}):
            before, uses = self._used.get(queue, {}), self._uses.get(queue, {})
            row = {
                name: amount
                for name in sorted({*before, *uses})
                if (
                    amount := used_later(
                        before.get(name, 0), uses.get(name, 0), now - since, half_life
                    )
                )
            }
            if row:
                used[queue] = row
        self._used = used

    def document(self) -> dict[str, Any]:
        """
        Give what is worth keeping over a restart, as plain values.
        """
        return {
            "until": self._until,
            "used": self._used,
            "uses": self._uses,
            "half_life": self.half_life,
        }

    @classmethod
    def kept(cls, document: object) -> "UsageMemory":
        """
        Give what somebody else kept, with the half-life that it was counted by.
        """
        said = document.get("half_life") if isinstance(document, Mapping) else None
        found = cls(said if type(said) is int and said > 0 else None)
        found.restore(document)
        return found

    def restore(self, document: object) -> bool:
        """
        Take what was kept, and tell whether it can be read: else nothing was used.

        What ran when it was kept is taken to have run until now.
        """
        self._until, self._used, self._uses = None, {}, {}
        if document is None:
            return True
        try:
            read = _StoredUsage.model_validate(document)
        except ValidationError:
            return False
        self._until, self._used, self._uses = read.until, read.used, read.uses
        return True
