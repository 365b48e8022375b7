"""
All dialects there are, in the order in which they are heard.
"""

from collections.abc import Collection
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from adapters.kube.dialects.base import Dialect
from adapters.kube.dialects.family import Family
from adapters.kube.dialects.table import rank

_MODULES = ("native", "kai", "volcano", "coscheduling", "koordinator")


@cache
def dialects() -> tuple[Dialect, ...]:
    """
    List the dialects, each heard before those after it.
    """
    found: list[Dialect] = []
    for name in _MODULES:
        path = f"adapters.kube.dialects.{name}"
        if find_spec(path) is None:
            continue
        module = import_module(path)
        several = getattr(module, "DIALECTS", None)
        found.extend([module.DIALECT] if several is None else several)
    return tuple(sorted(found, key=lambda dialect: rank(dialect.name)))


def dialects_of(owned: Collection[str]) -> tuple[Dialect, ...]:
    """
    List the dialects, where nobody else writes phases and counters of some of them.

    Koordinator's are written by its scheduler, those of scheduler-plugins by a
    controller of its own: which of them is there, only the user knows.
    """
    return tuple(
        replace(dialect, owns_status=True)
        if isinstance(dialect, Family) and dialect.name in owned
        else dialect
        for dialect in dialects()
    )
