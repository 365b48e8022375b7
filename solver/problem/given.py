"""
What a round is given: nodes and their room, what runs, gangs that wait, queues.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.devices.typical_pods import typical_pods
from models.gangs import Gang, PodPhase, pod_sets, released
from models.memory.aged_gangs import by_name
from models.memory.census import Census
from models.memory.kept import Kept
from models.node_table import NodeTable, table_of
from models.policy import Policy
from models.snapshot import Snapshot
from solver.devices.device_columns import holders
from solver.problem.gang_state import Standing, standing
from solver.problem.measured_room import room_of
from solver.problem.node_room import Room
from solver.problem.pod_counts import census_memo
from solver.problem.pod_values import PodValues
from solver.shares.queue_tree import QueueTree


class ProblemMemo:
    """
    What problems of one cluster share; it may be dropped at any time.
    """

    def __init__(self) -> None:
        self.census = census_memo()
        self.standings: Kept[Gang, Standing] = Kept(_standing)
        self.nodes: NodeTable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRound:
    """
    What a round is made of, before it is asked who can start.
    """

    snapshot: Snapshot
    table: NodeTable
    census: Census
    waiting: Sequence[Gang]
    states: dict[str, Standing]
    queues: QueueTree
    room: Room
    written: Mapping[str, Gang]
    values: PodValues


def given_of(
    snapshot: Snapshot, policy: Policy, memo: ProblemMemo, *, devices: bool = True
) -> GivenRound:
    """
    Read a snapshot: nodes, pods, gangs that wait, queues and room.
    """
    memo.nodes = table = table_of(snapshot.nodes, memo.nodes)
    census = memo.census.of(snapshot, table.index)
    states = memo.standings.of([snapshot.gangs[at] for at in census.open])
    waiting = [state.gang for state in states]
    moves = policy.evict.consolidate and policy.has("disruption")
    devices = devices or any(gang.min_resources for gang in waiting)
    counted = devices and (table.has_parts or table.tied)
    return GivenRound(
        snapshot=snapshot,
        table=table,
        census=census,
        waiting=waiting,
        states={state.key: state for state in states},
        queues=QueueTree.of(snapshot, census),
        room=room_of(
            table,
            waiting,
            census,
            moves=moves,
            devices=[*holders(snapshot.gangs)] if counted else [],
            typical=typical_pods(snapshot, policy) if policy.fragments else (),
        ),
        written=by_name(snapshot.gangs),
        values=PodValues(table.offered),
    )


def _standing(gang: Gang) -> Standing:
    """
    Let reserved pods be pending, the first of those that are.
    """
    if any(
        pod.phase is PodPhase.RESERVED for x in pod_sets(gang.tree) for pod in x.pods
    ):
        return standing(released(gang))
    return standing(gang)
