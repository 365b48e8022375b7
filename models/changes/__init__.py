"""
Changes: what would be if something were otherwise, from a snapshot to a snapshot.

Each kind of change is a record with a function of its own; ``changed`` knows them all.
Nothing here plans anything, and nothing says who would do it or what it would cost.
"""

from models.changes.added_nodes import AddedNodes as AddedNodes
from models.changes.cancelled_gangs import CancelledGangs as CancelledGangs
from models.changes.changed import Change as Change
from models.changes.changed import GangChange as GangChange
from models.changes.changed import changed as changed
from models.changes.changed import policy_after as policy_after
from models.changes.closed_node import ClosedNode as ClosedNode
from models.changes.evicted_gangs import EvictedGangs as EvictedGangs
from models.changes.gang_priority import GangPriority as GangPriority
from models.changes.gang_shape import GangAllows as GangAllows
from models.changes.gang_shape import GangLevel as GangLevel
from models.changes.gang_shape import GangPods as GangPods
from models.changes.gang_shape import GangTolerates as GangTolerates
from models.changes.gpus_in_parts import counting_parts as counting_parts
from models.changes.gpus_in_parts import counts_parts as counts_parts
from models.changes.more_moves import MoreMoves as MoreMoves
from models.changes.new_amount import NewAmount as NewAmount
from models.changes.passed_time import PassedTime as PassedTime
from models.changes.queue_rule import QueueRule as QueueRule
from models.changes.queue_rule import without_effect as without_effect
from models.changes.refused import ChangeRefusedError as ChangeRefusedError
from models.changes.refused import ChangesRejectedError as ChangesRejectedError
from models.changes.removed_nodes import RemovedNodes as RemovedNodes
from models.changes.submitted_gangs import SubmittedGangs as SubmittedGangs
