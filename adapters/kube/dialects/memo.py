"""
What is kept from one look at a cluster to the next, for whoever looks.

The owner of the objects owns it, and may drop it at any time: with an empty one the
same is read.  Nothing of it is shared between owners.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import is_
from typing import TypeVar, cast

from adapters.kube.api.api_resources import Raw

T = TypeVar("T")
Raws = tuple[tuple[Raw, ...], ...]


@dataclass(slots=True)
class DialectMemo:
    """
    What dialects keep, by name, and what was made of objects of the whole cluster.

    ``once`` may be one mapping for several memos: those of one cluster.
    """

    kept: dict[str, object] = field(default_factory=dict)
    once: dict[str, tuple[Raws, object]] = field(default_factory=dict)

    def own(self, name: str, make: Callable[[], T]) -> T:
        """
        Give what somebody keeps under a name, made at first.
        """
        if name not in self.kept:
            self.kept[name] = make()
        return cast("T", self.kept[name])

    def made_once(self, name: str, raws: Raws, make: Callable[[], T]) -> T:
        """
        Give what is made of objects of some kinds, as long as these are the very same.
        """
        known = self.once.get(name)
        if known is None or not all(map(is_, known[0], raws)):
            known = self.once[name] = (raws, make())
        return cast("T", known[1])
