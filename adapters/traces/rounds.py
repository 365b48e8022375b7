"""
Rounds as traces: the gangs of a scenario or snapshot, as jobs submitted when they were.
"""

from collections.abc import Iterator

from adapters.traces.cells import Names, RowLeftOutError
from adapters.traces.forms import Draft, Shelf
from adapters.traces.rows import TraceFile
from adapters.traces.tally import Tally
from models.gangs import Gang, Group, PodSet
from models.trace import Role


def rounds(file: TraceFile, tally: Tally) -> Iterator[Draft]:
    """
    Read one of our own rounds: what waits in it, and what runs.

    The oldest gang is submitted first, the others as much later as they are younger.
    """
    from adapters.files import read_scenario  # noqa: PLC0415 - pulls in the schemas

    names, shelf = Names(tally), Shelf()
    gangs = read_scenario(str(file.path)).snapshot.gangs
    for number, gang in enumerate(gangs, 1):
        tally.rows += 1
        try:
            yield _draft(gang, number, names, shelf)
        except RowLeftOutError as error:
            tally.leave_out(error.rule, number, error.what)


def _draft(gang: Gang, number: int, names: Names, shelf: Shelf) -> Draft:
    if gang.max_runtime is None:
        raise RowLeftOutError("no-duration", gang.key)
    return Draft(
        name=names.take(gang.name, number),
        submit=-float(gang.age),
        duration=gang.max_runtime,
        roles=shelf.take(tuple(_role(leaf, gang) for leaf in _leaves(gang))),
        queue=gang.queue,
        priority=gang.priority,
        preemptible=gang.preemptible,
        estimate=gang.max_runtime,
        line=number,
    )


def _leaves(gang: Gang) -> list[PodSet]:
    """
    List the roles of a gang that is no more than roles, all of which it needs.
    """
    tree = gang.tree
    if isinstance(tree, PodSet):
        return [tree]
    leaves = [child for child in tree.children if isinstance(child, PodSet)]
    if len(leaves) < len(tree.children) or not _needs_all(tree) or gang.mates:
        raise RowLeftOutError("tree", gang.key)
    return leaves


def _needs_all(tree: Group) -> bool:
    return tree.min_groups == len(tree.children) and not tree.min_pods


def _role(leaf: PodSet, gang: Gang) -> Role:
    if leaf.topology is not None or leaf.after or not leaf.minimum:
        raise RowLeftOutError("tree", gang.key)
    return Role(
        name=leaf.name,
        pods=leaf.replicas,
        minimum=leaf.minimum,
        requests=leaf.requests,
        demand=leaf.demand,
        exclusive=leaf.exclusive,
    )
