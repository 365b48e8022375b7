"""
Device selectors: the part of CEL that they need, read once, evaluated per device.

There are no loops, so an expression has no more steps than letters.  What is not known,
or nested too deep, is refused when it is read; what throws for a device says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from adapters.kube.claims.cel.cel_calls import FUNCTIONS, METHODS, arithmetic
from adapters.kube.claims.cel.cel_values import (
    Fields,
    Maybe,
    ThrownError,
    Value,
    word_for,
)
from adapters.kube.claims.cel.cel_words import CelError, CelWord, WordsLeft, words_of
from adapters.kube.claims.cel.patterns import pattern_of

_DEEPEST = 48
_LARGEST = 2**63 - 1
_LOOPS = frozenset(
    {"all", "exists", "exists_one", "existsOne", "filter", "map", "transformList"}
)

_Run = Callable[[Fields], Value]


@dataclass(frozen=True, slots=True)
class _CelPart:
    """
    A part of an expression; one that names a field keeps of what, for ``has``.

    The depth is that of the calls that evaluate it, each within the one before.
    """

    run: _Run
    depth: int = 0
    field: tuple["_CelPart", str] | None = None
    literal: Value | None = None


@dataclass(frozen=True, slots=True)
class Selector:
    """
    An expression that was read; ``names`` are all names and texts in it.

    Of a device it sees no attribute or capacity that is not among these, unless it
    ``sees_all``, since a name is reckoned.
    """

    text: str
    names: frozenset[str]
    sees_all: bool
    _run: _Run

    def holds(self, device: Fields) -> bool:
        """
        Tell whether it holds for a device.

        Raises
        ------
        ThrownError
            When it throws, or gives no bool.
        """
        found = self._run(device)
        if not isinstance(found, bool):
            raise ThrownError(f"gives {word_for(found)} and no bool")
        return found


@lru_cache(maxsize=4096)
def selector_of(text: str) -> Selector:
    """
    Read an expression.

    Raises
    ------
    CelError
        When it does not compile, or uses what we do not know.
    """
    words = words_of(text)
    names = frozenset(word.said for word in words if word.sort in {"name", "text"})
    reader = _CelReader(words)
    node = reader.whole()
    return Selector(text, names, reader.sees_all, node.run)


class _CelReader:
    """
    Reads words by descent, and makes what evaluates them.
    """

    def __init__(self, words: list[CelWord]) -> None:
        self._read = WordsLeft(words)
        self._depth = 0
        self.sees_all = False

    def whole(self) -> _CelPart:
        """
        Read all of it.
        """
        node = self._choice()
        if self._read.next.sort != "end":
            raise self._read.unexpected()
        return node

    def _choice(self) -> _CelPart:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise CelError(f"is nested deeper than {_DEEPEST}")
        node = self._either()
        if self._read.took("?"):
            yes = self._either()
            self._read.must(":")
            node = _chosen(node, yes, self._choice())
        self._depth -= 1
        return node

    def _either(self) -> _CelPart:
        parts = [self._both()]
        while self._read.took("||"):
            parts.append(self._both())
        return _joined(parts, ends=True)

    def _both(self) -> _CelPart:
        parts = [self._relation()]
        while self._read.took("&&"):
            parts.append(self._relation())
        return _joined(parts, ends=False)

    def _relation(self) -> _CelPart:
        node = self._sum()
        while True:
            sign = self._read.took("==", "!=", "<", "<=", ">", ">=")
            if not sign and self._read.next[:2] == ("name", "in"):
                self._read.skip()
                sign = "in"
                self.sees_all |= node.literal is None
            if not sign:
                return node
            node = _called(arithmetic(sign), node, self._sum())

    def _sum(self) -> _CelPart:
        node = self._product()
        while sign := self._read.took("+", "-"):
            node = _called(arithmetic(sign), node, self._product())
        return node

    def _product(self) -> _CelPart:
        node = self._sign()
        while sign := self._read.took("*", "/", "%"):
            node = _called(arithmetic(sign), node, self._sign())
        return node

    def _sign(self) -> _CelPart:
        signs = []
        while sign := self._read.took("!", "-"):
            signs.append(sign)
        node = self._member()
        for sign in reversed(signs):
            node = _called(arithmetic(f"{sign}_"), node)
        return node

    def _member(self) -> _CelPart:
        node = self._primary()
        while sign := self._read.took(".", ".?", "["):
            if sign == "[":
                is_maybe = bool(self._read.took("?"))
                key = self._choice()
                self._read.must("]")
                self.sees_all |= key.literal is None
                node = _item(node, key, is_maybe=is_maybe)
                continue
            name = self._read.name()
            if sign == ".?":
                node = _item(node, _constant(name), is_maybe=True)
            elif self._read.took("("):
                node = self._method(node, name)
            else:
                of, node = node, _item(node, _constant(name), is_maybe=False)
                node = replace(node, field=(of, name))
        return node

    def _method(self, of: _CelPart, name: str) -> _CelPart:
        if name in _LOOPS:
            raise CelError(f"loops ({name}) are not planned")
        if name not in METHODS:
            raise CelError(f"the function {name} is not known")
        given = self._given()
        number, call = METHODS[name]
        if len(given) != number:
            raise CelError(f"{name} takes {number} arguments and has {len(given)}")
        if name == "matches":
            if not isinstance(given[0].literal, str):
                raise CelError("matches needs its pattern written as a text")
            pattern_of(given[0].literal)
        return _called(call, of, *given)

    def _given(self) -> list[_CelPart]:
        """
        Read the arguments of a call, up to its end.
        """
        found: list[_CelPart] = []
        while not self._read.took(")"):
            found.append(self._choice())
            if not self._read.took(","):
                self._read.must(")")
                break
        return found

    def _primary(self) -> _CelPart:
        word = self._read.next
        if self._read.took("("):
            node = self._choice()
            self._read.must(")")
            return node
        if self._read.took("["):
            return self._list()
        if word.sort == "sign" and word.said == "{":
            raise CelError("maps are not known")
        if word.sort not in {"name", "int", "text"}:
            raise self._read.unexpected()
        self._read.skip()
        if word.sort == "text":
            return _constant(word.said, is_literal=True)
        if word.sort == "int":
            number = _number(word.said)
            return _constant(number, is_literal=True)
        return self._named(word.said)

    def _named(self, name: str) -> _CelPart:
        if name in {"true", "false"}:
            return _constant(name == "true")
        if name == "device":
            return _CelPart(lambda device: device)
        if not self._read.took("("):
            raise CelError(f"{name} is not known: there is device")
        given = self._given()
        if name == "has":
            if len(given) != 1 or given[0].field is None:
                raise CelError("has takes one field, such as has(a.b)")
            return _has(*given[0].field)
        if name not in FUNCTIONS:
            raise CelError(f"the function {name} is not known")
        if len(given) != 1:
            raise CelError(f"{name} takes 1 argument and has {len(given)}")
        return _called(FUNCTIONS[name], given[0])

    def _list(self) -> _CelPart:
        parts: list[_CelPart] = []
        while not self._read.took("]"):
            parts.append(self._choice())
            if not self._read.took(","):
                self._read.must("]")
                break
        return _called(lambda *values: values, *parts)


def _number(said: str) -> int:
    """
    Read a number, as far as CEL has it.
    """
    digits = said.lower().removeprefix("0x").lstrip("0")
    number = int(digits[:20] or "0", 16 if "x" in said.lower() else 10)
    if len(digits) > 20 or number > _LARGEST:
        raise CelError(f"the number {said[:20]} … is above {_LARGEST:,}")
    return number


def _made(run: _Run, *of: _CelPart) -> _CelPart:
    """
    Make a part of others, unless it is too deep.
    """
    depth = 1 + max((each.depth for each in of), default=0)
    if depth > _DEEPEST:
        raise CelError(f"is nested deeper than {_DEEPEST}")
    return _CelPart(run, depth)


def _constant(value: Value, *, is_literal: bool = False) -> _CelPart:
    return _CelPart(lambda _: value, literal=value if is_literal else None)


def _called(call: Callable[..., Value], *of: _CelPart) -> _CelPart:
    """
    Evaluate what a call is given, and make it.
    """
    runs = [each.run for each in of]
    return _made(lambda device: call(*(each(device) for each in runs)), *of)


def _truth(value: Value) -> bool:
    if not isinstance(value, bool):
        raise ThrownError(f"has {word_for(value)} where a bool is needed")
    return value


def _chosen(condition: _CelPart, yes: _CelPart, no: _CelPart) -> _CelPart:
    def run(device: Fields) -> Value:
        return (yes if _truth(condition.run(device)) else no).run(device)

    return _made(run, condition, yes, no)


def _joined(parts: Sequence[_CelPart], *, ends: bool) -> _CelPart:
    """
    Join conditions: each of them decides alone, even where others throw.
    """
    if len(parts) == 1:
        return parts[0]

    def run(device: Fields) -> Value:
        thrown = None
        for each in parts:
            try:
                if _truth(each.run(device)) is ends:
                    return ends
            except ThrownError as error:
                thrown = thrown or error
        if thrown:
            raise thrown
        return not ends

    return _made(run, *parts)


def _found(value: Value, key: Value) -> Value | None:
    """
    Look a key up; none where it is not there.
    """
    if isinstance(value, Fields):
        return value.get(key) if isinstance(key, str) else None
    if isinstance(value, tuple) and type(key) is int:
        return value[key] if 0 <= key < len(value) else None
    raise ThrownError(f"looks for {key!r} in {word_for(value)}")


def _item(of: _CelPart, key: _CelPart, *, is_maybe: bool) -> _CelPart:
    def look(value: Value, at: Value) -> Value:
        if isinstance(value, Maybe):
            inner = None if value.value is None else _found(value.value, at)
            return Maybe(inner)
        found = _found(value, at)
        if is_maybe:
            return Maybe(found)
        if found is None:
            raise ThrownError(f"has no such key: {at}")
        return found

    return _called(look, of, key)


def _has(of: _CelPart, name: str) -> _CelPart:
    def look(value: Value) -> Value:
        if isinstance(value, Maybe):
            return value.value is not None and _has_key(value.value, name)
        return _has_key(value, name)

    return _called(look, of)


def _has_key(value: Value, name: str) -> bool:
    if not isinstance(value, Fields):
        raise ThrownError(f"asks {word_for(value)} for a field {name}")
    return name in value.values
