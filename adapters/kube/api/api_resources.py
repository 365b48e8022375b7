"""
Kinds of objects, and objects as an API server or a manifest writes them.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

Raw = Mapping[str, object]
"""
An object as the API server or a manifest writes it.
"""
Place = tuple[str, str, str, str, str]
"""
Where an object is: group, version, plural, namespace, name.
"""
Writing = Callable[[Place], AbstractContextManager[Callable[[str], None]]]
"""
Hears of a write while it is made, and which version came of it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """
    A kind of object that is listed: its place in the API, and whether we need it.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    needed: bool = False
