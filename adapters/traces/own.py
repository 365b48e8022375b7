"""
Our own form: one row for each role of a job, as CSV or Parquet.
"""

import gzip
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from adapters.machine.csv_cells import CsvWriter, as_given
from adapters.traces.cells import Names, RowLeftOutError, duration, moment, safe, whole
from adapters.traces.forms import MODEL_LABEL, JobDraft, SharedRecords
from adapters.traces.gpu_amounts import read_gpus, written_gpus
from adapters.traces.row_faults import Tally, rejected
from adapters.traces.rows import (
    MARKS,
    NOTE,
    PART,
    Row,
    TraceFile,
    is_table_of_machines,
    need_columns,
    rows_of,
)
from models.errors import QuantityError
from models.nodes import ANYWHERE, LabelRule, NodeDemand
from models.resources import (
    CPU,
    MEMORY,
    PODS,
    Resources,
    format_quantity,
    parse_quantity,
)
from models.trace import Job, Role, Trace

NEEDED = ("submit", "duration", "gpus")
COLUMNS = (
    *("job", "role", "submit", "duration", "queue", "priority", "preemptible"),
    *("pods", "min", "gpus", "cpu", "memory", "model", "exclusive"),
    *("estimate", "fails"),
)
_TRUE = frozenset({"true", "yes", "1", ""})
_FALSE = frozenset({"false", "no", "0"})


_OF_JOB = (
    *("submit", "duration", "queue", "priority", "preemptible"),
    *("estimate", "fails"),
)
"""
What rows say of their whole job; the first of a job holds.
"""


def own(file: TraceFile, tally: Tally) -> Iterator[JobDraft]:
    """
    Read jobs in our own form; rows of one job stand together.

    A job of which one row cannot be read is left out: without a role it is another.
    """
    names, shelf = Names(tally), SharedRecords()
    draft: JobDraft | None = None
    first: Row = {}
    lines: list[int] = []
    for line, row in rows_of(file, tally):
        job = row.get("job", "")
        more = bool(job) and job == first.get("job") and bool(row.get("role"))
        if not more:
            if draft is not None:
                yield _shelved(draft, shelf)
            draft, first, lines = None, row, []
        elif draft is None:
            tally.leave_out("other-role", line, job)
            continue
        try:
            role = _role(row)
            if draft is None:
                draft = _draft(row, line, names, role)
            else:
                draft.roles = (*draft.roles, _apart(draft.roles, role, line, tally))
                _compare(row, first, line, tally)
            lines.append(line)
        except RowLeftOutError as error:
            tally.leave_out(error.rule, line, error.what)
            for other in lines:
                tally.leave_out("other-role", other, job)
            draft = None
    if draft is not None:
        yield _shelved(draft, shelf)


def _apart(roles: Sequence[Role], role: Role, line: int, tally: Tally) -> Role:
    """
    Give a further role of a job a name that none before it has.
    """
    names = {other.name for other in roles}
    if role.name not in names:
        return role
    tally.repair("same-name", line, role.name)
    numbered = (f"{role.name}-x{number}" for number in range(1, len(roles) + 1))
    return replace(role, name=next(name for name in numbered if name not in names))


def _compare(row: Row, first: Row, line: int, tally: Tally) -> None:
    """
    Note a row that contradicts the first of its job.
    """
    found = (n for n in _OF_JOB if row.get(n) not in {None, "", first.get(n)})
    if (name := next(found, None)) is not None:
        tally.repair("differs", line, f"{name} {row[name]}")


def _shelved(draft: JobDraft, shelf: SharedRecords) -> JobDraft:
    draft.roles = shelf.take(draft.roles)
    return draft


def _draft(row: Row, line: int, names: Names, role: Role) -> JobDraft:
    submit, dated = moment(row["submit"])
    fails = row.get("fails", "").split(";")
    estimate = row.get("estimate", "")
    return JobDraft(
        submit=submit,
        dated=dated,
        duration=duration(row["duration"]),
        roles=(role,),
        queue=as_given(row.get("queue", "")) or "default",
        priority=whole(
            row.get("priority", ""), least=-(2**31), most=2**31 - 1, empty=0
        ),
        preemptible=_truth(row.get("preemptible", ""), empty=True),
        failures=tuple(duration(text) for text in fails if text.strip()),
        estimate=duration(estimate) if estimate else None,
        line=line,
        name=names.take(row.get("job", ""), line),
    )


def _role(row: Row) -> Role:
    pods = whole(row.get("pods", ""), empty=1)
    if not pods:
        raise RowLeftOutError("no-pods", row.get("pods", ""))
    minimum = whole(row.get("min", ""), empty=pods)
    if not 1 <= minimum <= pods:
        raise RowLeftOutError("min-above-pods", row.get("min", ""))
    requests = {PODS: 1, **read_gpus(row["gpus"])}
    for column, resource in (("cpu", CPU), ("memory", MEMORY)):
        text = row.get(column, "")
        try:
            requests[resource] = parse_quantity(resource, text) if text else 0
        except QuantityError:
            raise RowLeftOutError("bad-number", text) from None
    models = tuple(sorted(filter(None, row.get("model", "").split("|"))))
    rule = LabelRule(key=MODEL_LABEL, operator="In", values=models)
    return Role(
        name=safe(row["role"]) if row.get("role") else "",
        pods=pods,
        minimum=minimum,
        requests={name: amount for name, amount in requests.items() if amount},
        demand=NodeDemand(terms=((rule,),)) if models else ANYWHERE,
        exclusive=_truth(row.get("exclusive", ""), empty=False),
    )


def _truth(text: str, *, empty: bool) -> bool:
    word = text.strip().lower()
    if not word:
        return empty
    if word not in _TRUE | _FALSE:
        raise RowLeftOutError("bad-number", text)
    return word in _TRUE


def check_head(name: str, head: Sequence[str]) -> None:
    """
    Refuse a table in our own form that lacks columns or has unknown ones.
    """
    if is_table_of_machines(head):
        raise rejected(
            name, "is a list of machines, not of jobs", "say it to --cluster"
        )
    need_columns(name, head, NEEDED)
    unknown = [column for column in head if column not in COLUMNS]
    if unknown:
        hint = f"the columns are {', '.join(COLUMNS)}"
        raise rejected(name, f"has an unknown column {unknown[0]!r}", hint)


def write_own(trace: Trace, path: Path) -> None:
    """
    Write a trace in our own form: CSV, packed where the name ends with .gz, or Parquet.
    """
    rows = (row for job in trace.jobs for row in _rows(job))
    if path.suffix == ".parquet":
        _write_parquet(rows, path, "\n".join(_marks(trace)))
        return
    with path.open("wb") as raw:
        # No name and no time in the head: the same trace gives the same bytes.
        packed = gzip.GzipFile("", "wb", 6, raw, 0) if path.suffix == ".gz" else raw
        text = io.TextIOWrapper(packed, encoding="utf-8", newline="")
        text.writelines(f"{line}\n" for line in _marks(trace))
        writer = CsvWriter(text)
        writer.row(COLUMNS)
        for row in rows:
            writer.row(row)
        text.flush()
        text.detach()
        if packed is not raw:
            packed.close()


def _marks(trace: Trace) -> list[str]:
    """
    Say what the jobs are, so that a file of them still tells.
    """
    marks = [*(NOTE + note for note in trace.notes), *(PART + p for p in trace.parts)]
    marks += [
        f"{NOTE}left out of {trace.name}: {count:,} by the rule {rule}"
        for rule, count in trace.left_out.items()
    ]
    return [" ".join(mark.split()) for mark in marks]


def _rows(job: Job) -> Iterator[tuple[object, ...]]:
    for role in job.roles:
        terms = role.demand.terms or ()
        models = terms[0][0].values if terms else ()
        asked = role.requests
        yield (
            *(job.name, role.name, job.submit, job.duration, job.queue, job.priority),
            str(job.preemptible).lower(),
            *(role.pods, role.minimum, written_gpus(asked)),
            *(_amount(CPU, asked), _amount(MEMORY, asked), "|".join(models)),
            str(role.exclusive).lower(),
            "" if job.estimate is None else job.estimate,
            ";".join(map(str, job.failures)),
        )


def _amount(resource: str, requests: Resources) -> str:
    amount = requests.get(resource, 0)
    return format_quantity(resource, amount) if amount else ""


def _write_parquet(rows: Iterable[tuple[object, ...]], path: Path, marks: str) -> None:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra
    except ImportError as error:
        hint = "install the extra: pip install 'phalanx[traces]'"
        raise rejected(str(path), "Parquet needs pyarrow", hint) from error
    columns = [[str(cell) for cell in column] for column in zip(*rows, strict=True)]
    columns = columns or [[] for _ in COLUMNS]
    table = pa.table(dict(zip(COLUMNS, columns, strict=True)))
    table = table.replace_schema_metadata({MARKS: marks} if marks else None)
    parquet.write_table(table, path, compression="zstd")
