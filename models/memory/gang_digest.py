"""
What a gang says, hashed: JSON of all that time does not change, and its times.

Of many gangs most parts are the same objects: a part is written once.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from json import JSONEncoder
from json.encoder import encode_basestring_ascii as quoted
from operator import attrgetter

from models.gangs import ON_A_NODE, Gang, Pod, PodSet, pod_sets


class GangDigests:
    """
    The digests of gangs, with the parts that were written; these may be forgotten.
    """

    def __init__(self) -> None:
        self._parts: dict[int | tuple[int, ...], tuple[object, str]] = {}
        self._ends: dict[object, str] = {}

    def forget(self) -> None:
        """
        Drop the parts.
        """
        self._parts.clear()
        self._ends.clear()

    def of(self, gang: Gang) -> bytes:
        """
        Hash a gang with its times before or after its age's: these never change.
        """
        born, stale, tree = -gang.age, gang.stale_since, gang.tree
        leaves = (tree,) if isinstance(tree, PodSet) else pod_sets(tree)
        times = [None if stale is None else stale + born]
        times += [
            pod.seconds + born if pod.phase in ON_A_NODE else pod.seconds
            for leaf in leaves
            for pod in leaf.pods
        ]
        return sha256(f"{self._text(gang)}\n{times}".encode()).digest()

    def _text(self, gang: Gang) -> str:
        """
        Give ``_WRITER.encode(gang)``: names and pods written, all else put together.
        """
        tree = gang.tree
        if not isinstance(tree, PodSet):
            return _WRITER.encode(gang)
        pods = ",".join(map(_pod_text, tree.pods))
        before = ",".join(map(self._part, _BEFORE_PODS(tree)))
        after = self._parts_of(_AFTER_PODS(tree))
        leaf = f"[{quoted(tree.name)},{before},[{pods}],{after}]"
        return f"[{quoted(gang.name)},{quoted(gang.namespace)},{leaf},{self._end(gang)}"

    def _part(self, value: object) -> str:
        known = self._parts.get(id(value))
        if known is None:
            known = self._parts[id(value)] = value, _WRITER.encode(value)
        return known[1]

    def _parts_of(self, values: tuple[object, ...]) -> str:
        key = tuple(map(id, values))
        known = self._parts.get(key)
        if known is None:
            text = ",".join(map(self._part, values))
            known = self._parts[key] = values, text
        return known[1]

    def _end(self, gang: Gang) -> str:
        """
        Give what is written of a gang after its tree.
        """
        if gang.min_resources or gang.refused is not None:
            return _WRITER.encode(_AFTER_TREE(gang))[1:]
        key = _PLAIN_AFTER_TREE(gang)
        end = self._ends.get(key)
        if end is None:
            end = self._ends[key] = _WRITER.encode(_AFTER_TREE(gang))[1:]
        return end


def written(value: object) -> object:
    """
    Give the fields of a record that decide anything, in their order.
    """
    getter = _FIELDS.get(type(value))
    if getter is not None:
        return getter(value)
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value):
        names = (entry.name for entry in fields(value) if entry.compare)
        _FIELDS[type(value)] = attrgetter(*names)
    return _FIELDS[type(value)](value)


def _timeless(value: object) -> object:
    """
    Give the fields of a gang or pod that time does not change, all those of others.
    """
    if isinstance(value, Pod):
        said = value.name, value.phase, value.node, value.uid
        more = value.devices, *([value.tied] if value.tied else [])
        return (*said, *more) if any(more) else said
    if isinstance(value, Gang):
        return (value.name, value.namespace, value.tree, *_AFTER_TREE(value))
    return written(value)


def _pod_text(pod: Pod) -> str:
    if pod.devices or pod.tied:
        return _WRITER.encode(pod)
    node = "null" if pod.node is None else quoted(pod.node)
    uid = "null" if pod.uid is None else quoted(pod.uid)
    return f'[{quoted(pod.name)},"{pod.phase}",{node},{uid}]'


_FIELDS: dict[type, Callable[[object], object]] = {}
_WRITER = JSONEncoder(
    sort_keys=True, separators=(",", ":"), check_circular=False, default=_timeless
)
_OF_LEAF = [entry.name for entry in fields(PodSet) if entry.compare]
_PODS = _OF_LEAF.index("pods")
_BEFORE_PODS = attrgetter(*_OF_LEAF[1:_PODS])
_AFTER_PODS = attrgetter(*_OF_LEAF[_PODS + 1 :])
_OF_GANG = [entry.name for entry in fields(Gang)]
_LATER = [n for n in _OF_GANG[3:] if n not in {"age", "stale_since"}]
_AFTER_TREE = attrgetter(*_LATER)
_PLAIN_AFTER_TREE = attrgetter(
    *(name for name in _LATER if name not in {"min_resources", "refused"})
)
