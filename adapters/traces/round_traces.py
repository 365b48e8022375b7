"""
Rounds as traces: the gangs of a scenario or snapshot, or those that a loop recorded.
"""

from collections.abc import Iterator

from adapters.traces.cells import Names, RowLeftOutError
from adapters.traces.forms import JobDraft, SharedRecords
from adapters.traces.row_faults import Tally
from adapters.traces.rows import TraceFile
from models.gangs import Gang, PodSet, plain_roles
from models.trace import Role

RECORDS = ".jsonl"


def rounds(file: TraceFile, tally: Tally) -> Iterator[JobDraft]:
    """
    Read our own rounds: a scenario or snapshot, or the record that a loop keeps.
    """
    if RECORDS not in file.path.suffixes:
        return _snapshot(file, tally)
    from adapters.traces.records import recorded  # noqa: PLC0415 - pulls in pydantic

    return recorded(file, tally)


def _snapshot(file: TraceFile, tally: Tally) -> Iterator[JobDraft]:
    """
    Read what waits in one round, and what runs.

    The oldest gang is submitted first, the others as much later as they are younger.
    """
    from adapters.files import read_scenario  # noqa: PLC0415 - pulls in the schemas

    names, shelf = Names(tally), SharedRecords()
    gangs = read_scenario(str(file.path)).snapshot.gangs
    for number, gang in enumerate(gangs, 1):
        tally.rows += 1
        try:
            yield _draft(gang, number, names, shelf)
        except RowLeftOutError as error:
            tally.leave_out(error.rule, number, error.what)


def _draft(gang: Gang, number: int, names: Names, shelf: SharedRecords) -> JobDraft:
    if gang.max_runtime is None:
        raise RowLeftOutError("no-duration", gang.key)
    roles = plain_roles(gang)
    if roles is None:
        raise RowLeftOutError("tree", gang.key)
    return JobDraft(
        name=names.take(gang.name, number),
        submit=-float(gang.age),
        duration=gang.max_runtime,
        roles=shelf.take(tuple(map(_role, roles))),
        queue=gang.queue,
        priority=gang.priority,
        preemptible=gang.preemptible,
        estimate=gang.max_runtime,
        line=number,
    )


def _role(leaf: PodSet) -> Role:
    return Role(
        name=leaf.name,
        pods=leaf.replicas,
        minimum=leaf.minimum,
        requests=leaf.requests,
        demand=leaf.demand,
        exclusive=leaf.exclusive,
    )
