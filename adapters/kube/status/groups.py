"""
Group objects in their dialect's words, whoever else writes them.

What the server answered to a write counts until the watch has brought something newer:
so nothing is written twice while the watch lags.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from adapters.kube.api.api_resources import Place, Raw, Writing
from adapters.kube.dialects.protocol import Claim, Dialect, GroupStanding, Write
from adapters.kube.objects.fields import FieldError, mapping, text, version_in
from adapters.kube.status.k8s_events import Regarding
from adapters.kube.status.patches import (
    PatchOutcome,
    patch_group,
    read_group,
)
from adapters.kube.status.rate_limit import Wire

_TRIES = 3
Say = Callable[[Regarding, tuple[str, str, str]], None]


def unheard(_place: Place) -> AbstractContextManager[Callable[[str], None]]:
    """
    Let nobody hear of a write.
    """
    return nullcontext(lambda _version: None)


class GroupStatus:
    """
    Writes what dialects answer.

    Their events go to ``say``; ``writing`` hears what is written, and made of it.
    """

    def __init__(
        self, wire: Wire, dialects: Sequence[Dialect], say: Say, writing: Writing
    ) -> None:
        self._writing = writing
        self._wire = wire
        self._dialects = {dialect.name: dialect for dialect in dialects}
        self._say = say
        self._newer: dict[Place, Raw] = {}
        self._refused: dict[Place, Raw] = {}

    def write(self, claim: Claim, standing: GroupStanding) -> bool:
        """
        Write what a gang's dialect says of it; tell whether it is said.
        """
        dialect = self._dialects.get(claim.dialect)
        if dialect is None or claim.source is None:
            return True
        for _ in range(_TRIES):
            if self._written(dialect, self._newest(claim), standing):
                return True
        return False

    def keep(self, claims: Collection[Claim]) -> None:
        """
        Forget the objects that are gone.
        """
        if not self._newer and not self._refused:
            return
        places = {
            place_of(raw)
            for claim in claims
            for raw in (claim.source, *claim.others)
            if raw is not None
        }
        for known in (self._newer, self._refused):
            for place in [place for place in known if place not in places]:
                del known[place]

    def _written(self, dialect: Dialect, claim: Claim, standing: GroupStanding) -> bool:
        """
        Write all of an answer; no when somebody else was faster.
        """
        for write in dialect.answer(claim, standing):
            place = _place(write)
            if write.event is not None:
                about = _object(claim, place)
                if about is not None:
                    self._say(regarding(about), write.event)
            elif not self._patched(claim, write, place):
                return False
        return True

    def _patched(self, claim: Claim, write: Write, place: Place) -> bool:
        if self._wire.is_muted(place) or self._refused.get(place) == write.patch:
            return True
        version = version_in(self._newer.get(place) or _object(claim, place))
        with self._writing(place) as made:
            written = patch_group(self._wire.transport, write, version)
            made(version_in(written.answer))
        outcome = self._wire.sent("group", place, written)
        if outcome is PatchOutcome.DONE:
            self._keep(place, written.answer)
        elif outcome is PatchOutcome.INVALID:
            self._refused[place] = write.patch
        elif outcome is PatchOutcome.CONFLICT:
            fresh = read_group(self._wire.transport, write)
            if self._wire.sent("group", place, fresh) is PatchOutcome.DONE:
                self._keep(place, fresh.answer)
                return False
        return True

    def _newest(self, claim: Claim) -> Claim:
        """
        Take what the server answered for what we have not read yet.
        """
        if not self._newer:
            return claim
        return replace(
            claim,
            source=claim.source and self._newer_of(claim.source),
            others=tuple(map(self._newer_of, claim.others)),
        )

    def _newer_of(self, raw: Raw) -> Raw:
        place = place_of(raw)
        kept = self._newer.get(place)
        if kept is None:
            return raw
        if _number(raw) >= _number(kept):
            del self._newer[place]
            return raw
        return kept

    def _keep(self, place: Place, answer: Mapping[str, Any] | None) -> None:
        if answer is not None and isinstance(answer.get("metadata"), Mapping):
            meta = {k: v for k, v in answer["metadata"].items() if k != "managedFields"}
            self._newer[place] = {**answer, "metadata": meta}


def place_of(raw: Raw) -> Place:
    """
    Give the place of a group object.
    """
    about = regarding(raw)
    group, _, version = about.api_version.rpartition("/")
    plural = f"{about.kind.lower()}s"
    return group, version, plural, about.namespace, about.name


def regarding(raw: Raw) -> Regarding:
    """
    Name an object as events do.
    """
    try:
        meta = mapping(raw, "metadata")
        return Regarding(
            api_version=text(raw, "apiVersion"),
            kind=text(raw, "kind"),
            namespace=text(meta, "namespace") or "default",
            name=text(meta, "name"),
            uid=text(meta, "uid"),
        )
    except FieldError:
        return Regarding(api_version="", kind="", namespace="", name="")


def _place(write: Write) -> Place:
    return write.group, write.version, write.plural, write.namespace, write.name


def _object(claim: Claim, place: Place) -> Raw | None:
    """
    Find the object of a claim that a write is about.
    """
    raws = (claim.source, *claim.others)
    return next((r for r in raws if r is not None and place_of(r) == place), None)


def _number(raw: Raw) -> int:
    """
    Give the number that a resource version is.
    """
    version = version_in(raw)
    return int(version) if version.isdecimal() else 0
