"""
What a scenario expects of its plan.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from models.why.reasons import Reason

Number = Annotated[int, Field(ge=0)]
Cause = Reason | Literal["any"]
PerGang = dict[str, Number | None]


class Same(BaseModel):
    """
    All pods of a gang that run, are bound or reserved share one domain of a level.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    gang: str
    level: str


class Expect(BaseModel):
    """
    Checks on a plan; what is not said is not checked, and null says nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    starts: PerGang | None = None
    runs: PerGang | None = None
    leaves: dict[str, PerGang | None] | None = None
    waits: dict[str, Cause | None] | None = None
    evicts: PerGang | None = None
    moves: PerGang | Number | None = None
    reserves: PerGang | Number | None = None
    same: list[Same] | None = None
    on: dict[str, str | None] | None = None
    tiers: dict[str, int | float | None] | None = None
    idle: bool | None = None
    proven: bool | None = None
    greedy: "Expect | None" = None

    def of(self, strategy: str) -> Self:
        """
        Give what is expected of one strategy: greedy's own words come first.

        What is proven is expected of the solver only, if greedy's do not say it.
        """
        if strategy != "greedy":
            return self
        ours = self.model_dump(exclude={"greedy"}) | {"proven": None}
        if self.greedy is None:
            return type(self).model_validate(ours)
        theirs = self.greedy.model_dump(exclude={"greedy"}, exclude_unset=True)
        started = {**(theirs.get("starts") or {}), **(theirs.get("runs") or {})}
        if isinstance(theirs.get("reserves"), dict):
            started |= theirs["reserves"]
        _forget(ours, "waits", {name for name, pods in started.items() if pods})
        for word in ("starts", "runs", "leaves", "reserves"):
            _forget(ours, word, set(theirs.get("waits") or {}))
        for word, said in theirs.items():
            both = isinstance(ours[word], dict) and isinstance(said, dict)
            ours[word] = {**ours[word], **said} if both else said
        return type(self).model_validate(ours)


def _forget(said: dict[str, object], word: str, names: set[str]) -> None:
    have = said.get(word)
    if isinstance(have, dict):
        said[word] = {k: v for k, v in have.items() if k not in names}
