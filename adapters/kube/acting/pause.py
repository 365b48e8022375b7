"""
A pause: while the settings or our own namespace say so, nothing is bound or evicted.
"""

import logging
from collections.abc import Callable

from adapters.kube.api.api_resources import Raw, Resource
from adapters.kube.api.client import Transport
from adapters.kube.api.errors import ClusterError, NotFoundError
from adapters.kube.api.paths import path_of, rule_of
from adapters.kube.gangs.holds import said
from adapters.kube.objects.fields import FieldError, mapping, texts
from models.why.reasons import Reason, Waiting

PAUSED = PAUSE, PAUSED_BY, PAUSED_SINCE = (
    "phalanx.dev/pause",
    "phalanx.dev/paused-by",
    "phalanx.dev/paused-since",
)
"""
Why, who and since when; only the first one pauses.
"""
NAMESPACES = Resource(
    group="", version="v1", plural="namespaces", kind="Namespace", namespaced=False
)
READ_EVERY = 2.0
"""
Seconds after which the namespace is read again.
"""
_log = logging.getLogger(__name__)


def pause_of(raw: Raw) -> Waiting | None:
    """
    Read what a namespace says of a pause, if it says one.
    """
    notes = texts(mapping(raw, "metadata"), "annotations")
    return said(Reason.PAUSED, notes, PAUSED)


class Pause:
    """
    Whether Phalanx is paused, and what is told of it.

    The settings come first.  The namespace is read at most every two seconds; while it
    cannot be read, what was read last holds.
    """

    def __init__(
        self,
        transport: Transport,
        namespace: str,
        clock: Callable[[], float],
        setting: Waiting | None = None,
    ) -> None:
        self._transport = transport
        self._path = path_of(NAMESPACES, name=namespace)
        self._rule = rule_of(NAMESPACES, "get")
        self._clock = clock
        self._setting = setting
        self._known: Waiting | None = None
        self._read_at: float | None = None

    def __call__(self) -> Waiting | None:
        """
        Give why nothing is bound now; none where binding goes on.
        """
        if self._setting is not None:
            return self._setting
        now = self._clock()
        if self._read_at is None or now >= self._read_at + READ_EVERY:
            self._read_at = now
            self._note(self._read())
        return self._known

    def _read(self) -> Waiting | None:
        try:
            return pause_of(self._transport.call("GET", self._path, rule=self._rule))
        except NotFoundError:
            return None
        except (ClusterError, FieldError) as error:
            _log.warning("pause_not_read", extra={"fields": {"error": str(error)}})
            return self._known

    def _note(self, found: Waiting | None) -> None:
        if found == self._known:
            return
        self._known = found
        extra = {"fields": {} if found is None else dict(found.facts)}
        _log.warning("resumed" if found is None else "paused", extra=extra)
