"""
What a status writer speaks with.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adapters.kube.api.api_resources import Writing
from adapters.kube.api.client import Transport
from adapters.kube.dialects.protocol import Dialect
from adapters.kube.status.groups import unheard
from adapters.kube.status.k8s_events import Notices
from adapters.kube.status.pods import Lookup
from adapters.kube.status.proofs import Proofs

Counted = Callable[[str, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """
    What a status writer speaks with: who reads and writes, and who counts.

    ``lookup`` gives the pods that the API server shows; ``counted`` is told of every
    request: what it was about (``group``, ``pod``, ``event``) and its outcome.
    ``writing`` hears of each write to a group, and which version came of it.
    ``proofs`` say why gangs wait; without them it is the reason of the round.
    """

    transport: Transport
    dialects: Sequence[Dialect]
    lookup: Lookup
    notices: Notices
    counted: Counted = lambda _what, _outcome: None
    writing: Writing = unheard
    proofs: Proofs | None = None
