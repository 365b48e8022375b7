"""
All dialects there are, in the order in which they are heard, read as people choose.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache

from adapters.kube.dialects.coscheduling.ack import Ack
from adapters.kube.dialects.coscheduling.keys import KeyRules
from adapters.kube.dialects.coscheduling.koordinator import Koordinator
from adapters.kube.dialects.coscheduling.plugin import Coscheduling
from adapters.kube.dialects.coscheduling.shared import Family
from adapters.kube.dialects.defaults import rank
from adapters.kube.dialects.kai.gangs import DIALECT as KAI
from adapters.kube.dialects.native.gangs import DIALECT as NATIVE
from adapters.kube.dialects.protocol import Dialect
from adapters.kube.dialects.volcano.gangs import DIALECTS as VOLCANO_SHAPED
from models.dialects import DialectChoice

_ALONE = {
    DialectChoice.KOORDINATOR: KeyRules.KOORDINATOR,
    DialectChoice.ACK: KeyRules.ACK,
}


def dialects(choices: Iterable[DialectChoice] = ()) -> tuple[Dialect, ...]:
    """
    List the dialects, each heard before those after it.
    """
    return _dialects(frozenset(choices))


@cache
def _dialects(choices: frozenset[DialectChoice]) -> tuple[Dialect, ...]:
    family = next((rules for alone, rules in _ALONE.items() if alone in choices), None)
    first = DialectChoice.PODGROUP_FIRST not in choices
    found: list[Dialect] = [
        NATIVE,
        KAI,
        *VOLCANO_SHAPED,
        Koordinator(family=family, annotations_first=first),
        Ack(family=family),
        Coscheduling(family=family),
    ]
    return tuple(sorted(found, key=lambda dialect: rank(dialect.name)))


def dialects_of(
    owned: Collection[str], choices: Iterable[DialectChoice] = ()
) -> tuple[Dialect, ...]:
    """
    List the dialects, where nobody else writes phases and counters of some of them.

    Koordinator's are written by its scheduler, those of scheduler-plugins by a
    controller of its own: which of them is there, only the user knows.
    """
    return tuple(
        replace(dialect, owns_status=True)
        if isinstance(dialect, Family) and dialect.name in owned
        else dialect
        for dialect in dialects(choices)
    )
