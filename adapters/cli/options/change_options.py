"""
Changes as they are written on the command line, and what is varied in a series.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from models.changes import (
    AddedNodes,
    CancelledGangs,
    Change,
    ClosedNode,
    GangPriority,
    NewAmount,
    QueueRule,
    RemovedNodes,
    SubmittedGangs,
)
from models.documents.queue_specs import is_in_parts
from models.errors import QuantityError, WrongUseError
from models.names import nearest
from models.resources import (
    GPU,
    GPU_SHARE,
    LARGEST_TOTAL,
    MODEL_MARK,
    is_gpu,
    parse_quantity,
)
from models.snapshot import Snapshot

MOST_STEPS = 200
_RANGE = re.compile(r"(\d{1,9})\.\.(\d{1,9})(?::(\d{1,6}))?")


def _several(metavar: str, text: str) -> Any:  # noqa: ANN401 - the parser's option
    return typer.Option(metavar=metavar, help=text)


AddNodes = Annotated[
    list[str] | None,
    _several("CLASS=N", "Add N nodes like CLASS-0 …, or like the node of that name."),
]
RemoveNodes = Annotated[
    list[str] | None, _several("NODE,…", "Remove these nodes; their pods wait again.")
]
Drain = Annotated[
    list[str] | None, _several("NODE,…", "Drain these nodes; their pods wait again.")
]
Cordon = Annotated[
    list[str] | None, _several("NODE,…", "Let these nodes take no new pods.")
]
Uncordon = Annotated[
    list[str] | None, _several("NODE,…", "Let these nodes take pods again.")
]
Quota = Annotated[
    list[str] | None,
    _several("QUEUE.RESOURCE=N", "Set a quota: 16, +4, -4 or unlimited."),
]
Limit = Annotated[
    list[str] | None, _several("QUEUE.RESOURCE=N", "Set a limit, likewise.")
]
Weight = Annotated[
    list[str] | None, _several("QUEUE.RESOURCE=N", "Set a weight, likewise.")
]
Priority = Annotated[list[str] | None, _several("GANG=N", "Give a gang this priority.")]
Cancel = Annotated[list[str] | None, _several("GANG,…", "End these gangs.")]
Submit = Annotated[
    list[str] | None,
    _several("FILE", "Submit the gangs of this file, records or manifests."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTexts:
    """
    What was written for each kind of change.
    """

    add_nodes: Sequence[str] = ()
    remove_nodes: Sequence[str] = ()
    drain: Sequence[str] = ()
    cordon: Sequence[str] = ()
    uncordon: Sequence[str] = ()
    quota: Sequence[str] = ()
    limit: Sequence[str] = ()
    weight: Sequence[str] = ()
    priority: Sequence[str] = ()
    cancel: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class VariedChange:
    """
    A change for each of some amounts, and how it was written.
    """

    text: str
    amounts: Sequence[int]
    of: Callable[[int], Change]


Read = Change | VariedChange


def changes_of(
    texts: ChangeTexts, snapshot: Snapshot, submitted: SubmittedGangs | None
) -> tuple[list[Change], VariedChange | None]:
    """
    Read all changes, nodes first, then queues, then gangs; and the one that varies.
    """
    read = list(_all(texts, snapshot, submitted))
    varied = [each for each in read if isinstance(each, VariedChange)]
    if len(varied) > 1:
        names = " and ".join(each.text for each in varied[:2])
        raise WrongUseError(f"{names}: only one change can have a range")
    _refuse_replaced(read)
    fixed = [each for each in read if not isinstance(each, VariedChange)]
    return fixed, varied[0] if varied else None


def _refuse_replaced(read: Iterable[Read]) -> None:
    """
    Refuse a change that would replace another one: which is meant, nobody can tell.
    """
    known: dict[str, Change] = {}
    for each in read:
        change = each.of(each.amounts[0]) if isinstance(each, VariedChange) else each
        name = _target(change)
        is_difference = isinstance(change, QueueRule) and change.amount.by is not None
        if name and not is_difference and known.get(name, change) != change:
            raise WrongUseError(f"{name} is changed twice, and only one can hold")
        known[name] = change


def _target(change: Change) -> str:
    """
    Name what a change sets; nothing where several of its kind never meet.
    """
    match change:
        case QueueRule():
            return f"the {change.field} of {change.queue}.{change.resource}"
        case GangPriority():
            return f"the priority of {change.gang}"
        case ClosedNode():
            return f"node {change.node}"
        case _:
            return ""


def _all(
    texts: ChangeTexts, snapshot: Snapshot, submitted: SubmittedGangs | None
) -> Iterator[Read]:
    if removed := tuple(_names(texts.remove_nodes)):
        yield RemovedNodes(names=removed)
    for text in texts.add_nodes:
        yield _added(text)
    for how, nodes in (
        ("drain", texts.drain),
        ("cordon", texts.cordon),
        ("open", texts.uncordon),
    ):
        for name in _names(nodes):
            yield ClosedNode(node=name, how=_HOW[how])
    for field, rules in (
        ("quota", texts.quota),
        ("limit", texts.limit),
        ("weight", texts.weight),
    ):
        for text in rules:
            yield _rule(_FIELD[field], text, snapshot)
    if submitted is not None:
        yield submitted
    if cancelled := tuple(map(_gang_key, _names(texts.cancel))):
        yield CancelledGangs(gangs=cancelled)
    for text in texts.priority:
        yield _priority(text)


def says_parts(texts: ChangeTexts, snapshot: Snapshot) -> bool:
    """
    Tell whether a quota or limit is of parts of GPUs: its number is not whole.
    """
    return any(
        is_in_parts(words) and _queue_and_resource(field, name, snapshot)[1] == GPU
        for field, rules in (("quota", texts.quota), ("limit", texts.limit))
        for text in rules
        for name, _, words in [text.rpartition("=")]
    )


_HOW: dict[str, Literal["cordon", "drain", "open"]] = {
    "drain": "drain",
    "cordon": "cordon",
    "open": "open",
}
_FIELD: dict[str, Literal["quota", "limit", "weight"]] = {
    "quota": "quota",
    "limit": "limit",
    "weight": "weight",
}


def _names(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        names = [name.strip() for name in text.split(",")]
        if not all(names):
            raise WrongUseError(f"{text!r} is not a list of names such as a,b")
        yield from names


def _gang_key(name: str) -> str:
    return name if "/" in name else f"default/{name}"


def _pair(option: str, text: str, like: str) -> tuple[str, str]:
    name, equals, amount = text.rpartition("=")
    if not equals or not name or not amount:
        raise WrongUseError(f"--{option} {text!r} is not written like {like}")
    return name, amount


def _added(text: str) -> Read:
    like, words = _pair("add-nodes", text, "dgx=4 or dgx=0..16")

    def of(number: int) -> AddedNodes:
        return AddedNodes(like=like, number=number)

    amounts = _range(words)
    if amounts is not None:
        return VariedChange(f"--add-nodes {text}", amounts, of)
    return of(_whole("add-nodes", text, words, least=0))


def _rule(
    field: Literal["quota", "limit", "weight"], text: str, snapshot: Snapshot
) -> Read:
    name, words = _pair(field, text, "research.gpu=16, research.gpu=+4")
    queue, resource = _queue_and_resource(field, name, snapshot)
    sign = -1 if words.startswith("-") else 1
    relative = words[:1] in {"+", "-"}
    bare = words[1:] if relative else words

    def of(number: int) -> QueueRule:
        scaled = number if field == "weight" else parse_quantity(resource, number)
        amount = NewAmount(by=sign * scaled) if relative else NewAmount(scaled)
        return QueueRule(field=field, queue=queue, resource=resource, amount=amount)

    amounts = _range(bare)
    if amounts is not None:
        return VariedChange(f"--{field} {text}", amounts, of)
    if field == "weight":
        return of(_whole(field, text, bare, least=0))
    if words == "unlimited":
        none = NewAmount()
        return QueueRule(field=field, queue=queue, resource=resource, amount=none)
    try:
        value = parse_quantity(resource, bare, up=False, most=LARGEST_TOTAL)
    except QuantityError as error:
        raise WrongUseError(f"--{field} {text}: {error}") from error
    amount = NewAmount(by=sign * value) if relative else NewAmount(value)
    return QueueRule(field=field, queue=queue, resource=resource, amount=amount)


def _queue_and_resource(field: str, name: str, snapshot: Snapshot) -> tuple[str, str]:
    """
    Split ``queue.resource`` where both may hold dots; ``gpu`` is the only GPU there is.
    """
    queues = {queue.name for queue in snapshot.queues}
    at = [i for i, sign in enumerate(name) if sign == "."]
    for i in reversed(at):
        if name[:i] in queues:
            return name[:i], _resource(name[i + 1 :], snapshot)
    if not at:
        raise WrongUseError(f"--{field} {name!r} names no resource, as {name}.gpu does")
    word = name[: at[0]]
    near = nearest(word, queues)
    hint = f" (did you mean {near}?)" if near else ""
    if not queues:
        hint = ": no queue is there at all"
    raise WrongUseError(f"--{field} {name}: there is no queue {word!r}{hint}")


def _resource(word: str, snapshot: Snapshot) -> str:
    named = {name for queue in snapshot.queues for name in queue.resources}
    named |= {name for node in snapshot.nodes for name in node.allocatable}
    if word in {"gpu", "gpus", GPU} and GPU_SHARE in named:
        return GPU_SHARE
    short, mark, model = word.partition(MODEL_MARK)
    if short not in {"gpu", "gpus"}:
        return word
    found = sorted(name for name in named if is_gpu(name))
    if len(found) > 1:
        raise WrongUseError(f"gpu is one of {', '.join(found)}: name it in full")
    return f"{found[0]}{mark}{model}" if found else word


def _priority(text: str) -> Read:
    name, words = _pair("priority", text, "train=100")

    def of(number: int) -> GangPriority:
        return GangPriority(gang=_gang_key(name), priority=number)

    amounts = _range(words)
    if amounts is not None:
        return VariedChange(f"--priority {text}", amounts, of)
    return of(_whole("priority", text, words, least=-(2**31)))


def _whole(option: str, text: str, words: str, least: int) -> int:
    try:
        number = int(words)
    except ValueError:
        raise WrongUseError(
            f"--{option} {text}: {words!r} is not a whole number"
        ) from None
    if not least <= number < 2**31:
        what = f"is out of range, {least} to {2**31 - 1}"
        raise WrongUseError(f"--{option} {text}: {words} {what}")
    return number


def _range(words: str) -> list[int] | None:
    """
    Read ``0..16`` or ``0..64:8``; other words are no range.
    """
    if ".." not in words:
        return None
    match = _RANGE.fullmatch(words.replace("..+", ".."))
    if match is None:
        raise WrongUseError(f"{words!r} is not a range such as 0..16 or 0..64:8")
    low, high, step = (int(part or 1) for part in match.groups())
    if low > high or not step:
        what = "ends below where it begins" if step else "has steps of 0"
        raise WrongUseError(f"{words!r} {what}; a range is such as 0..64:8")
    found = [*range(low, high + 1, step)]
    if len(found) > MOST_STEPS:
        what = f"{words}: {len(found):,} rounds, at most {MOST_STEPS} are planned"
        raise WrongUseError(f"{what}; take larger steps, as 0..64:8")
    return found
