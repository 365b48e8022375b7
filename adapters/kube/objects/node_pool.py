"""
Shards: schedulers of one cluster, each with the nodes and pods of its own pool.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from models.errors import QuantityError


@dataclass(frozen=True, slots=True)
class NodePool:
    """
    A label that nodes and pods of a pool carry; without a value, those without it.

    Without a key it is the whole cluster.
    """

    key: str = ""
    value: str = ""

    def owns(self, labels: Mapping[str, str]) -> bool:
        """
        Tell whether what carries these labels is of this pool.
        """
        return not self.key or labels.get(self.key, "") == self.value


WHOLE = NodePool()


def pool_of(text: str) -> NodePool:
    """
    Read ``key=value``, or ``key=`` for what has no such label; nothing is all.

    Raises
    ------
    QuantityError
        When it is neither.
    """
    if not text:
        return WHOLE
    key, equals, value = text.partition("=")
    if not key.strip() or not equals:
        raise QuantityError(
            f"{text!r} is not a label such as example.com/pool=a, or "
            "example.com/pool= for nodes and pods without it"
        )
    return NodePool(key.strip(), value.strip())
