"""
What there is, as rows: gangs, queues and nodes of a snapshot, for people and programs.
"""

from adapters.inventory.gangs import GangRow as GangRow
from adapters.inventory.gangs import gang_rows as gang_rows
from adapters.inventory.nodes import NodeRow as NodeRow
from adapters.inventory.nodes import node_rows as node_rows
from adapters.inventory.queues import QueueRow as QueueRow
from adapters.inventory.queues import queue_rows as queue_rows
from adapters.inventory.seen import Seen as Seen
