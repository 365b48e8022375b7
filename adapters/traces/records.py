"""
Records as traces: what a loop wrote of its rounds, as jobs with their moments.

A record says when a gang started, since when it had waited and what it asks for, and in
which later round it no longer ran.  It does not say what ran before the record begins.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adapters.observe.round_file import read_rounds
from adapters.traces.cells import Names
from adapters.traces.forms import JobDraft, SharedRecords
from adapters.traces.row_faults import Tally
from adapters.traces.rows import TraceFile
from models.resources import LONGEST_SECONDS
from models.trace import Role

_MOST = 2**50


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _AskedRole(_Record):
    name: str
    pods: int = Field(ge=1, le=_MOST)
    min: int = Field(ge=1, le=_MOST)
    requests: dict[str, Annotated[int, Field(ge=0, le=_MOST)]]
    exclusive: bool = False


class _Asks(_Record):
    age: int = Field(ge=0, le=LONGEST_SECONDS)
    priority: int = 0
    preemptible: bool = True
    max_runtime: int | None = Field(None, alias="maxRuntime", ge=0, le=LONGEST_SECONDS)
    roles: tuple[_AskedRole, ...] | None = None


class _RecordedGang(_Record):
    name: str
    queue: str
    state: str
    asks: _Asks | None = None


class _Gangs(_Record):
    items: tuple[_RecordedGang, ...] = ()
    ended: tuple[str, ...] = ()


class _Round(_Record):
    began: datetime
    outcome: str
    gangs: _Gangs = _Gangs()


@dataclass(slots=True)
class _Begun:
    """
    A gang that was seen to start: what it asks for, and when it started last.
    """

    line: int
    submit: float
    start: float
    queue: str
    asks: _Asks | None


def recorded(file: TraceFile, tally: Tally) -> Iterator[JobDraft]:
    """
    Read every gang that a loop saw start, and when it ended.

    Of one that had to start again the last run counts, from its first submission on.
    """
    shelf, names = SharedRecords(), Names(tally)
    begun: dict[str, _Begun] = {}
    drafts: list[JobDraft] = []

    def end(key: str, moment: float | None) -> None:
        draft = _draft(key, begun.pop(key), moment, tally)
        if draft is not None:
            draft.name = names.take(key.partition("/")[2], draft.line)
            draft.roles = shelf.take(draft.roles)
            drafts.append(draft)

    for number, moment, found in _rounds(file, tally):
        for key in found.gangs.ended:
            if key in begun:
                end(key, moment)
        if found.outcome == "done":
            _begin(begun, found, number, moment)
    for key in list(begun):
        end(key, None)
    yield from sorted(drafts, key=lambda draft: (draft.submit, draft.line))


def _rounds(file: TraceFile, tally: Tally) -> Iterator[tuple[int, float, _Round]]:
    for number, record in enumerate(read_rounds(file.path), 1):
        try:
            found = _Round.model_validate(record)
        except ValidationError as error:
            tally.rows += 1
            where = ".".join(map(str, error.errors()[0]["loc"]))
            tally.leave_out("bad-record", number, where)
            continue
        yield number, found.began.timestamp(), found


def _begin(begun: dict[str, _Begun], found: _Round, number: int, moment: float) -> None:
    for item in found.gangs.items:
        if item.state != "Starting":
            continue
        before = begun.get(item.name)
        if before is not None:
            before.start = moment
            continue
        age = item.asks.age if item.asks else 0
        begun[item.name] = _Begun(number, moment - age, moment, item.queue, item.asks)


def _draft(
    key: str, begun: _Begun, ended: float | None, tally: Tally
) -> JobDraft | None:
    """
    Make a job of a gang, unless the record does not say enough.
    """
    tally.rows += 1
    asks = begun.asks
    rule = ""
    if asks is None:
        rule = "no-requests"
    elif not asks.roles:
        rule = "tree"
    elif ended is None and asks.max_runtime is None:
        rule = "no-duration"
    if rule or asks is None or not asks.roles:
        tally.leave_out(rule, begun.line, key)
        return None
    ran = asks.max_runtime if ended is None else max(0, round(ended - begun.start))
    return JobDraft(
        name=key,
        submit=begun.submit,
        duration=ran or 0,
        roles=tuple(
            Role(
                name=role.name,
                pods=role.pods,
                minimum=min(role.min, role.pods),
                requests=role.requests,
                exclusive=role.exclusive,
            )
            for role in asks.roles
        ),
        queue=begun.queue,
        priority=asks.priority,
        preemptible=asks.preemptible,
        estimate=asks.max_runtime,
        dated=True,
        line=begun.line,
    )
