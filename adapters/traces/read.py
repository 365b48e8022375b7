"""
Reading a trace: which form it has, its jobs in order, and what was done to them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from adapters.traces import forms, own
from adapters.traces.forms import JobDraft
from adapters.traces.round_traces import RECORDS, rounds
from adapters.traces.row_faults import Tally, rejected
from adapters.traces.rows import (
    NOTE,
    PART,
    TraceFile,
    head_of,
    lines_of,
    marks_of,
    need_columns,
)
from models.trace import Job, Trace

MOST_JOBS = 5_000_000
"""
The most jobs that are held in memory at once.
"""
Reader = Callable[[TraceFile, Tally], Iterator[JobDraft]]
FORMS: Mapping[str, Reader] = {
    "own": own.own,
    "philly": forms.philly,
    "openb": forms.openb,
    "dlrm": forms.dlrm,
    "swf": forms.swf,
    "round": rounds,
}
_COLUMNS: Mapping[str, Sequence[str]] = {
    "philly": ("timestamp", "duration", "num_gpus", "cluster"),
    "openb": (
        *("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec"),
        *("creation_time", "deletion_time", "scheduled_time"),
    ),
    "dlrm": (
        *("role", "app_name", "cpu_request", "gpu_request", "memory_request"),
        *("max_instance_per_node", "creation_time", "deletion_time"),
    ),
}
_ROUNDS = (".yaml", ".yml", ".json", RECORDS)
_TELLING = {"philly": "num_gpus", "openb": "gpu_milli", "dlrm": "app_name"}


def form_of(file: TraceFile, said: str | None = None) -> str:
    """
    Tell a file's form by its name and its columns, and that these are complete.
    """
    if said is not None and said not in FORMS:
        names = ", ".join(FORMS)
        raise rejected(file.name, f"{said!r} is not a form of a trace", f"say {names}")
    if said == "swf" or (said is None and _is_swf(file)):
        return "swf"
    if said == "round" or (said is None and file.name.endswith(_ROUNDS)):
        return "round"
    head = head_of(file)
    _check_columns(file.name, head)
    form = said or next((f for f, word in _TELLING.items() if word in head), "own")
    if form == "own":
        own.check_head(file.name, head)
    else:
        need_columns(file.name, head, _COLUMNS[form])
    return form


_OTHERS = {";": "a semicolon", "\t": "a tab", "|": "a bar"}


def _check_columns(name: str, head: Sequence[str]) -> None:
    """
    Refuse columns that stand there twice, or with something else than commas between.
    """
    for sign, called in _OTHERS.items():
        if len(head) == 1 and sign in head[0]:
            what = f"has {called} between its columns; only commas are read"
            raise rejected(name, what, "write it with commas")
    twice = next((column for column in head if head.count(column) > 1), None)
    if twice is not None:
        what = f"has the column {twice!r} {head.count(twice)} times"
        raise rejected(name, what, "name each column once")


def _is_swf(file: TraceFile) -> bool:
    name = file.name.removesuffix(".gz")
    if name.endswith(".swf"):
        return True
    if file.parquet or "." in name.rpartition("/")[2]:
        return False
    with closing(lines_of(file, Tally(file.name))) as lines:
        first = next((text for _, text in lines), "")
    return first.lstrip().startswith(";")


@dataclass(frozen=True, slots=True)
class TraceStream:
    """
    A trace of any length, job by job in the order of the file.

    The tally is complete once the last job was taken; ``submit`` counts as in the file,
    from the epoch where it is ``dated``.
    """

    name: str
    form: str
    tally: Tally
    jobs: Iterator[Job]
    part: Callable[[], float]
    notes: tuple[str, ...]
    parts: tuple[str, ...]
    dated: Callable[[], bool]


def stream_trace(path: str, form: str | None = None) -> TraceStream:
    """
    Open a trace to be read as a stream.
    """
    file = TraceFile(path)
    form = form_of(file, form)
    tally = Tally(file.name)
    dated: list[bool] = []

    def jobs() -> Iterator[Job]:
        for draft in _watched(file, form, tally):
            if not dated:
                dated.append(draft.dated)
            yield _job(draft, 0)

    return TraceStream(
        name=file.path.name,
        form=form,
        tally=tally,
        jobs=jobs(),
        part=file.part,
        notes=(*_notes(file, form), *_marks(file, form, NOTE)),
        parts=_marks(file, form, PART),
        dated=lambda: dated == [True],
    )


def _watched(file: TraceFile, form: str, tally: Tally) -> Iterator[JobDraft]:
    """
    Walk the drafts and count those that were submitted before the one above.

    What the first of them counts from, all do: a date among seconds means nothing.
    """
    before = None
    dated: bool | None = None
    for draft in FORMS[form](file, tally):
        dated = draft.dated if dated is None else dated
        if draft.dated != dated:
            tally.leave_out("other-time", draft.line)
            continue
        if before is not None and draft.submit < before:
            tally.repair("unsorted", draft.line)
        before = draft.submit
        yield draft


def read_trace(path: str, form: str | None = None) -> Trace:
    """
    Read a whole trace, sorted by submission, the first job at second 0.

    Raises
    ------
    InputRejectedError
        When it has no known form, lacks columns, or most rows cannot be read.
    """
    file = TraceFile(path)
    form = form_of(file, form)
    tally = Tally(file.name)
    drafts = []
    for draft in _watched(file, form, tally):
        drafts.append(draft)
        if len(drafts) > MOST_JOBS:
            what = f"has more than {MOST_JOBS:,} jobs, the most that are played at once"
            raise rejected(file.name, what, "cut it, or `phalanx trace check` it")
    tally.judge()
    drafts.sort(key=lambda draft: (draft.submit, draft.line))
    first = drafts[0].submit if drafts else 0.0
    return Trace(
        name=file.path.name,
        form=form,
        digest=file.digest(),
        begins=date_of(first) if drafts and drafts[0].dated else None,
        jobs=tuple(_job(draft, first) for draft in drafts),
        notes=(*_notes(file, form), *_marks(file, form, NOTE), *_gap(drafts)),
        parts=_marks(file, form, PART),
        repaired=dict(sorted(tally.repaired.items())),
        left_out=dict(sorted(tally.left_out.items())),
    )


def _notes(file: TraceFile, form: str) -> tuple[str, ...]:
    known = form == "round" and RECORDS in file.path.suffixes
    return forms.NOTES["record" if known else form]


LONG_GAP = 60 * 86400
"""
Seconds without a submission after which a time may be wrong.
"""


def _gap(drafts: Sequence[JobDraft]) -> Iterator[str]:
    """
    Say where nothing is submitted for so long that a time may be wrong.
    """
    gaps = [
        (after.submit - before.submit, before, after)
        for before, after in pairwise(drafts)
    ]
    longest, before, after = max(
        gaps, key=lambda gap: gap[0], default=(0.0, None, None)
    )
    if before is None or after is None or longest <= LONG_GAP:
        return
    span = drafts[-1].submit - drafts[0].submit
    if longest > span / 2:
        yield (
            f"nothing is submitted for {longest / 86400:,.0f} of {span / 86400:,.0f} "
            f"days, between lines {before.line} and {after.line}: is a time wrong?"
        )


def _marks(file: TraceFile, form: str, kind: str) -> tuple[str, ...]:
    return marks_of(file, kind) if form == "own" else ()


def date_of(stamp: float) -> str:
    """
    Write a moment in seconds since the epoch as a date.
    """
    return datetime.fromtimestamp(stamp, UTC).isoformat()


def _job(draft: JobDraft, first: float) -> Job:
    return Job(
        name=draft.name,
        submit=int(draft.submit - first),
        duration=draft.duration,
        queue=draft.queue,
        priority=draft.priority,
        preemptible=draft.preemptible,
        roles=draft.roles,
        failures=draft.failures,
        estimate=draft.estimate,
    )
