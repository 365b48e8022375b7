"""
The durable intent of a shard: what a round is about to bind, and what is remembered.

One ConfigMap, written once per round before its first bind, with the version that we
wrote last as precondition.  A new leader writes it first of all; so whoever led before
and does not know yet that he no longer does cannot begin another round.
"""

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.kube.api.client import Transport
from adapters.kube.api.errors import (
    ClusterError,
    ConflictError,
    NotFoundError,
    UnreadableError,
)
from adapters.loop.memory.promises import Promise

_RULE = '{{apiGroups: [""], resources: ["configmaps"], verbs: ["{}"]}}'
_HOLDER = "phalanx.dev/holder"
_QUICKLY = 1
MOST_BINDS = 20_000
"""
The binds that fit into one object: names, nodes and uids, packed.
"""


class FencedError(ClusterError):
    """
    Somebody else has written the intent since we did: he leads now.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """
    The binds of a round that may not have ended, and what is remembered of gangs.
    """

    round: str = ""
    binds: tuple[Promise, ...] = ()
    memory: Mapping[str, Any] = field(default_factory=dict)


class IntentStore:
    """
    The object of one shard, as far as this process has written it.
    """

    def __init__(
        self, transport: Transport, place: tuple[str, str], identity: str
    ) -> None:
        self._transport = transport
        self._namespace, self._name = place
        self._identity = identity
        self._version = ""

    def claim(self) -> Intent:
        """
        Read what the last leader left, and make the object ours.
        """
        try:
            raw = self._call("GET", self._path)
        except NotFoundError:
            self._create()
            return Intent()
        found = _read(raw, self._path)
        self._version = _version(raw)
        raw = self._call("PUT", self._path, self._body(raw.get("binaryData") or {}))
        self._version = _version(raw)
        return found

    def write(self, intent: Intent) -> None:
        """
        Store an intent in place of the one before.

        Raises
        ------
        FencedError
            When somebody else has written since.
        """
        data = {"intent": _packed(_plain(intent)), "memory": _packed(intent.memory)}
        if not self._version:
            self._recall()
        version, self._version = self._version, ""  # unknown until we are answered
        try:
            raw = self._call("PUT", self._path, self._body(data, version))
        except (ConflictError, NotFoundError) as error:
            raise FencedError(f"the intent {self._path} is no longer ours") from error
        self._version = _version(raw)

    def _recall(self) -> None:
        """
        Find out whether the object is still ours, after a write without an answer.
        """
        raw = self._call("GET", self._path)
        notes = (raw.get("metadata") or {}).get("annotations") or {}
        if notes.get(_HOLDER) != self._identity:
            raise FencedError(f"the intent {self._path} is no longer ours")
        self._version = _version(raw)

    def _create(self) -> None:
        path = self._path.rpartition("/")[0]
        self._version = _version(self._call("POST", path, self._body({}, "")))

    def _call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        verb = {"GET": "get", "POST": "create", "PUT": "update"}[method]
        return self._transport.call(method, path, body, rule=_RULE.format(verb))

    def _body(
        self, data: Mapping[str, str], version: str | None = None
    ) -> dict[str, Any]:
        meta: dict[str, Any] = {
            "name": self._name,
            "namespace": self._namespace,
            "annotations": {_HOLDER: self._identity},
        }
        if version := self._version if version is None else version:
            meta["resourceVersion"] = version
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": meta,
            "binaryData": dict(data),
        }

    @property
    def _path(self) -> str:
        return f"/api/v1/namespaces/{self._namespace}/configmaps/{self._name}"


def _version(raw: Mapping[str, Any]) -> str:
    return str((raw.get("metadata") or {}).get("resourceVersion") or "")


def _plain(intent: Intent) -> dict[str, Any]:
    rows: dict[str, list[list[str | None]]] = {}
    for bind in intent.binds:
        rows.setdefault(bind.gang, []).append([bind.pod, bind.uid, bind.node])
    return {"round": intent.round, "binds": rows}


def _read(raw: Mapping[str, Any], where: str) -> Intent:
    data = raw.get("binaryData") or {}
    try:
        said, memory = _unpacked(data, "intent"), _unpacked(data, "memory")
        return Intent(
            round=str(said.get("round", "")),
            binds=tuple(
                Promise(gang=gang, pod=pod, uid=uid, node=node)
                for gang, rows in said.get("binds", {}).items()
                for pod, uid, node in rows
            ),
            memory=memory,
        )
    except (ValueError, OSError, EOFError, AttributeError, TypeError) as error:
        raise UnreadableError(
            f"{where} holds no intent ({type(error).__name__}: {error}); delete it "
            "when no scheduler runs, and check for gangs that run in part"
        ) from error


def _packed(value: object) -> str:
    text = json.dumps(value, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(text, _QUICKLY, mtime=0)).decode()


def _unpacked(data: Mapping[str, str], word: str) -> dict[str, Any]:
    if word not in data:
        return {}
    found = json.loads(gzip.decompress(base64.b64decode(data[word], validate=True)))
    if not isinstance(found, dict):
        raise ValueError(f"{word} is no mapping")  # noqa: TRY004 - one error for all
    return found
