"""
What became of an operation that left: done, or why not.
"""

from dataclasses import dataclass
from typing import Literal

from models.plan import Operation
from models.why.reasons import Waiting

Result = Literal["done", "held", "again", "refused", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """
    An operation with its result, what the other side said, and how long it took.

    ``waiting`` is what a pod is told whose bind is held.

    ``held``
        It is begun: the pod is bound once what it waits for is there.
    ``again``
        Something was in the way that passes: a conflict, a budget, a busy server.
    ``refused``
        It will be refused again until somebody changes something.
    ``skipped``
        It was not tried, since an earlier operation of its gang had failed.
    """

    operation: Operation
    result: Result
    message: str = ""
    seconds: float = 0.0
    waiting: Waiting | None = None
