"""
Claims of devices and their classes: what is asked, and what has been allocated.

What we do not know is refused with its field, never obeyed in part.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.kube.api.api_resources import Raw
from adapters.kube.claims.cel.cel import selector_of
from adapters.kube.claims.cel.cel_words import CelError
from adapters.kube.claims.device_reader import (
    Amounts,
    DeviceName,
    DeviceTaint,
    thousandths,
)
from adapters.kube.objects.extended_asks import IMPLICIT
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    few,
    mapping,
    records,
    shown,
    text,
    whole,
    words,
)

_MOST_RESULTS = 32
"""
The devices of one claim, as the API server takes it.
"""
_MOST_LISTED = 32
"""
The most entries of each list, as the API server takes them or fewer.
"""


@dataclass(frozen=True, slots=True)
class DeviceToleration:
    """
    A taint of devices that a request does not mind.
    """

    key: str
    operator: str
    value: str
    effect: str
    seconds: int | None = None

    def tolerates(self, taint: DeviceTaint) -> bool:
        """
        Tell whether it does not mind this one.
        """
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        return self.operator == "Exists" or self.value == taint.value


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """
    A class of devices: the selectors that all of its have, and its extended resources.
    """

    name: str
    selectors: tuple[str, ...] = ()
    resource: str = ""
    config: tuple[Json, ...] = field(default=(), compare=False, repr=False)
    created: str = field(default="", compare=False, repr=False)

    @property
    def resources(self) -> tuple[str, ...]:
        """
        Name the extended resources that ask for its devices.
        """
        implicit = f"{IMPLICIT}{self.name}"
        return (self.resource, implicit) if self.resource else (implicit,)


@dataclass(frozen=True, slots=True)
class DeviceAsk:
    """
    One device of a class, with more selectors, and what of its capacities.

    ``place`` is where it stands in its claim, and ``called`` how results name it.
    """

    device_class: DeviceClass
    selectors: tuple[str, ...] = ()
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: Amounts = ()
    place: str = field(default="", compare=False, repr=False)
    called: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Request:
    """
    Some devices, all of the first of some alternatives that can be had.

    ``counts`` say how many of each alternative; none is all that match.
    """

    name: str
    asks: tuple[DeviceAsk, ...]
    counts: tuple[int | None, ...]

    @property
    def least(self) -> int:
        """
        Count the devices that it asks for at least.
        """
        return min(1 if count is None else count for count in self.counts)


@dataclass(frozen=True, slots=True)
class Constraint:
    """
    What devices of some requests have in common, or have none of them in common.
    """

    attribute: str
    is_distinct: bool
    requests: tuple[str, ...] = ()

    def concerns(self, request: str, called: str) -> bool:
        """
        Tell whether it is about a request, or the alternative of it that was taken.
        """
        said = self.requests
        return not said or request in said or called in said


@dataclass(frozen=True, slots=True)
class ClaimSpec:
    """
    What a claim asks for; its ``config`` goes with what it gets.
    """

    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...] = ()
    config: tuple[Json, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HeldDevice:
    """
    A device that a claim has; ``consumed`` is its part where several have it.
    """

    device: DeviceName
    consumed: Amounts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClaim:
    """
    A ResourceClaim; ``held`` is what has been allocated to it, none if nothing was.

    ``selector`` says on which nodes that can be used.  ``users`` are the uids of those
    for whom it is reserved, ``owners`` of whom it was made for; an ``extended`` one for
    the extended resources that its owner asks for.  ``unread`` is why the rest of it
    cannot be read: of what it has then, only the devices that it names are known.
    """

    namespace: str
    name: str
    uid: str = ""
    version: str = ""
    spec: ClaimSpec | None = None
    fault: str = ""
    held: tuple[HeldDevice, ...] | None = None
    selector: Json | None = None
    users: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    is_leaving: bool = False
    is_extended: bool = False
    unread: str = ""

    @property
    def key(self) -> str:
        """
        Its namespace and name.
        """
        return f"{self.namespace}/{self.name}"


Classes = Mapping[str, DeviceClass | str]
"""
The classes by name; of one that cannot be read, why.
"""


def classes_of(raws: Iterable[Raw]) -> dict[str, DeviceClass | str]:
    """
    Read classes.
    """
    found: dict[str, DeviceClass | str] = {}
    for raw in raws:
        name = ""
        try:
            meta = mapping(raw, "metadata")
            name = text(meta, "name", "metadata")
            spec = mapping(raw, "spec")
            found[name] = DeviceClass(
                name=name,
                selectors=tuple(_selectors(spec, "spec")),
                resource=text(spec, "extendedResourceName", "spec"),
                config=tuple(records(spec, "config", "spec")),
                created=text(meta, "creationTimestamp", "metadata"),
            )
        except FieldError as error:
            found[name] = str(error)
    return found


def claim_spec(raw: Json, classes: Classes, place: str = "spec") -> ClaimSpec:
    """
    Read what a claim, or a template of claims, asks for.

    Raises
    ------
    FieldError
        When it cannot be read, or asks for what we do not know.
    """
    place = f"{place}.devices"
    devices = mapping(raw, "devices", place)
    raws = _listed(devices, "requests", place)
    requests = tuple(
        _request(each, classes, f"{place}.requests[{at}]")
        for at, each in enumerate(raws)
    )
    least = sum(each.least for each in requests)
    if least > _MOST_RESULTS:
        what = f"asks for {least:,} devices, and {_MOST_RESULTS} is the most"
        raise FieldError(f"{place}.requests", what)
    names = _names(raws, f"{place}.requests")
    constraints = tuple(
        _constraint(each, f"{place}.constraints[{at}]", names)
        for at, each in enumerate(_listed(devices, "constraints", place))
    )
    return ClaimSpec(requests, constraints, tuple(records(devices, "config", place)))


def _names(raws: Iterable[Json], place: str) -> Collection[str]:
    """
    Name all requests and alternatives, each of which has a name of its own.
    """
    found: set[str] = set()
    for raw in raws:
        name = text(raw, "name", place)
        several = _listed(raw, "firstAvailable", place)
        inside = [f"{name}/{text(each, 'name', place)}" for each in several]
        for called in (name, *inside):
            if called in found:
                raise FieldError(place, f"{shown(called)} is there twice")
            found.add(called)
    return found


def _request(raw: Json, classes: Classes, place: str) -> Request:
    name = text(raw, "name", place)
    if raw.get("firstAvailable"):
        if raw.get("exactly") is not None:
            raise FieldError(place, "has both exactly and firstAvailable")
        several = _listed(raw, "firstAvailable", place)
        found = [
            _ask(each, classes, f"{place}.firstAvailable[{at}]", f"{name}/")
            for at, each in enumerate(several)
        ]
        # One that no claim may have is no alternative.
        may_be = [each for each in found if (each[1] or 1) <= _MOST_RESULTS]
        asks, counts = zip(*(may_be or found), strict=True)
        return Request(name, asks, counts)
    if raw.get("exactly") is None:
        raise FieldError(place, "has neither exactly nor firstAvailable")
    inside = mapping(raw, "exactly", place)
    ask, count = _ask(inside, classes, f"{place}.exactly", "", name)
    return Request(name, (ask,), (count,))


def _ask(
    raw: Json, classes: Classes, place: str, before: str, called: str = ""
) -> tuple[DeviceAsk, int | None]:
    """
    Read one alternative of a request, and how many devices it is for.
    """
    for key in ("adminAccess", "derivedAttributes"):
        if raw.get(key):
            raise FieldError(f"{place}.{key}", "is not planned")
    wanted = text(raw, "deviceClassName", place)
    of = classes.get(wanted)
    if not isinstance(of, DeviceClass):
        what = f"there is no device class {wanted}" if of is None else of
        raise FieldError(f"{place}.deviceClassName", what)
    amounts = mapping(mapping(raw, "capacity", place), "requests", place)
    ask = DeviceAsk(
        device_class=of,
        selectors=tuple(_selectors(raw, place)),
        tolerations=tuple(_tolerations(raw, place)),
        capacity=tuple(
            (name, thousandths(value, f"{place}.capacity.requests.{name}"))
            for name, value in sorted(amounts.items())
        ),
        place=place,
        called=called or f"{before}{text(raw, 'name', place)}",
    )
    return ask, _count(raw, place)


def _count(raw: Json, place: str) -> int | None:
    mode = text(raw, "allocationMode", place) or "ExactCount"
    count = whole(raw, "count", place)
    if mode == "All" and count:
        raise FieldError(f"{place}.count", "is said beside allocationMode All")
    if mode == "All":
        return None
    if mode != "ExactCount":
        raise FieldError(f"{place}.allocationMode", f"{shown(mode)} is not known")
    count = 1 if count is None else count
    if count < 1:
        raise FieldError(f"{place}.count", f"{count} is not at least 1")
    return count


def _listed(raw: Json, key: str, place: str) -> Sequence[Json]:
    return few(records(raw, key, place), f"{place}.{key}", _MOST_LISTED)


def _selectors(raw: Json, place: str) -> Iterator[str]:
    for at, each in enumerate(_listed(raw, "selectors", place)):
        here = f"{place}.selectors[{at}]"
        said = text(mapping(each, "cel", here), "expression", f"{here}.cel")
        try:
            selector_of(said)
        except CelError as error:
            raise FieldError(f"{here}.cel.expression", str(error)) from error
        yield said


def _tolerations(raw: Json, place: str) -> Iterator[DeviceToleration]:
    found = _listed(raw, "tolerations", place)
    place = f"{place}.tolerations"
    for each in found:
        operator = text(each, "operator", place) or "Equal"
        if operator not in {"Equal", "Exists"}:
            raise FieldError(f"{place}.operator", f"{shown(operator)} is not known")
        yield DeviceToleration(
            text(each, "key", place),
            operator,
            text(each, "value", place),
            text(each, "effect", place),
            whole(each, "tolerationSeconds", place),
        )


def _constraint(raw: Json, place: str, names: Collection[str]) -> Constraint:
    requests = tuple(words(raw, "requests", place))
    for name in requests:
        if name not in names:
            raise FieldError(f"{place}.requests", f"there is no request {shown(name)}")
    same = text(raw, "matchAttribute", place)
    other = text(raw, "distinctAttribute", place)
    if bool(same) is bool(other):
        how = "both matchAttribute and" if same else "neither matchAttribute nor"
        raise FieldError(place, f"has {how} distinctAttribute")
    return Constraint(same or other, bool(other), requests)
