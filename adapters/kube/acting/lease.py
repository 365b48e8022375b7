"""
Leadership by a Lease: who may write, and for how long that is certain.

Time is this machine's, and only ever grows, also while the process sleeps; the times
that the Lease holds are for people.  We lead while our last renewal began less than
``renew`` seconds ago, which is well before another may take over: a leader that was
paused wakes up without a claim.
"""

import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adapters.kube.api.client import Transport
from adapters.kube.api.errors import ClusterError, ConflictError, NotFoundError
from adapters.machine.supervised import SupervisedThread

_log = logging.getLogger(__name__)
_API = "coordination.k8s.io/v1"


def awake_or_asleep() -> float:
    """
    Give seconds that only ever grow, those of a suspended machine among them.
    """
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTimes:
    """
    The seconds of a Lease, each well below the one before.

    Others may take over ``duration`` after a renewal; we are sure of ours for
    ``renew``; we try every ``retry``.
    """

    duration: float = 15.0
    renew: float = 10.0
    retry: float = 2.0


@dataclass(frozen=True, slots=True)
class _SeenLease:
    """
    What a Lease held when we first saw it so, and when that was.
    """

    holder: str
    version: str
    at: float


class Lease:
    """
    One Lease object, at a namespace and name, that we try to hold.

    ``changed`` is told when we begin to lead and when we no longer do.
    """

    def __init__(
        self,
        transport: Transport,
        place: tuple[str, str],
        identity: str,
        *,
        times: LeaseTimes | None = None,
        changed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = awake_or_asleep,
    ) -> None:
        self.identity = identity
        self.times = times or LeaseTimes()
        self.terms = 0
        self._transport = transport
        self._namespace, self._name = place
        self._changed = changed
        self._clock = clock
        self._sure_until = 0.0
        self._seen: _SeenLease | None = None
        self._told = False
        self._stopped = threading.Event()
        self.thread = SupervisedThread("lease", self._run)

    def is_held(self) -> bool:
        """
        Tell whether it is certain that nobody else leads.
        """
        return self._clock() < self._sure_until

    def start(self) -> None:
        """
        Begin to try.
        """
        self.thread.start()

    def stop(self) -> None:
        """
        Lead no longer, and let the next one in at once.
        """
        self.thread.stop()
        self._stopped.set()
        self.thread.join(2 * self.times.retry)
        held = self.is_held()
        self._sure_until = 0.0
        if held:
            try:
                self._release()
            except ClusterError as error:
                _log.info("lease_kept", extra={"fields": {"error": str(error)}})

    def attempt(self) -> None:
        """
        Renew the Lease, or take it where nobody holds it; note what came of it.
        """
        began = self._clock()
        try:
            if self._tried(began):
                self._sure_until = began + self.times.renew
            else:
                self._sure_until = 0.0
        except ConflictError:
            self._sure_until = 0.0  # somebody else wrote it: read it the next time
        except ClusterError as error:
            _log.warning("lease_failed", extra={"fields": {"error": str(error)}})
        self._tell()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self.attempt()
            pause = self.times.retry * random.uniform(0.8, 1.2)  # noqa: S311
            until = self._clock() + pause
            while (left := until - self._clock()) > 0 and not self._stopped.is_set():
                self._stopped.wait(min(left, 0.2))
                self._tell()  # what we were sure of may have run out meanwhile

    def _tell(self) -> None:
        held = self.is_held()
        if held != self._told:
            self._told = held
            self.terms += held
            self._changed()

    def _tried(self, began: float) -> bool:
        """
        Tell whether the Lease is ours after one try.
        """
        try:
            raw = self._transport.call("GET", self._path, rule=self._rule("get"))
        except NotFoundError:
            body = self._written({}, transitions=0)
            path = self._path.rpartition("/")[0]
            self._transport.call("POST", path, body, rule=self._rule("create"))
            return True
        spec = _spec(raw)
        holder = str(spec.get("holderIdentity") or "")
        if holder not in {"", self.identity} and not self._is_over(raw, holder, began):
            return False
        moved = holder != self.identity
        transitions = int(_number(spec.get("leaseTransitions"))) + moved
        body = self._written(raw, transitions=transitions, renewed=not moved)
        self._transport.call("PUT", self._path, body, rule=self._rule("update"))
        return True

    def _is_over(self, raw: dict[str, Any], holder: str, began: float) -> bool:
        """
        Tell whether a holder has not renewed for as long as its Lease lasts.

        We count from when we first saw what it wrote, for its clock may differ from
        ours: from the end of that read, since it may have renewed while we read or
        slept, to the beginning of this one.
        """
        meta = raw.get("metadata")
        version = str(meta.get("resourceVersion")) if isinstance(meta, dict) else ""
        seen = self._seen
        if seen is None or (seen.holder, seen.version) != (holder, version):
            self._seen = _SeenLease(holder, version, self._clock())
            return False
        lasts = _number(_spec(raw).get("leaseDurationSeconds"))
        return began >= seen.at + max(lasts, self.times.duration)

    def _release(self) -> None:
        raw = self._transport.call("GET", self._path, rule=self._rule("get"))
        spec = _spec(raw)
        if spec.get("holderIdentity") == self.identity:
            raw["spec"] = {**spec, "holderIdentity": "", "leaseDurationSeconds": 1}
            self._transport.call("PUT", self._path, raw, rule=self._rule("update"))

    def _written(
        self, raw: dict[str, Any], *, transitions: int, renewed: bool = False
    ) -> dict[str, Any]:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        old = _spec(raw)
        meta = raw.get("metadata") or {
            "name": self._name,
            "namespace": self._namespace,
        }
        return {
            "apiVersion": _API,
            "kind": "Lease",
            "metadata": meta,
            "spec": {
                "holderIdentity": self.identity,
                "leaseDurationSeconds": max(1, round(self.times.duration)),
                "acquireTime": old.get("acquireTime") if renewed else now,
                "renewTime": now,
                "leaseTransitions": transitions,
            },
        }

    @property
    def _path(self) -> str:
        return f"/apis/{_API}/namespaces/{self._namespace}/leases/{self._name}"

    @staticmethod
    def _rule(verb: str) -> str:
        return (
            '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], '
            f'verbs: ["{verb}"]}}'
        )


def _spec(raw: dict[str, Any]) -> dict[str, Any]:
    spec = raw.get("spec")
    return spec if isinstance(spec, dict) else {}


def _number(said: object) -> float:
    """
    Read a number that anybody may have written; 0 where it is none.
    """
    return float(said) if isinstance(said, int | float) and 0 <= said < 2**31 else 0.0
