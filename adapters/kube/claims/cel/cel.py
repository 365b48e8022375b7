"""
Device selectors: the part of CEL that they need, read once, evaluated per device.

There are no loops, and an expression takes a bounded number of steps.  What is not
known is refused when it is read; what throws for a device says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
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

_MOST_STEPS = 10_000
_DEEPEST = 48
_LOOPS = frozenset(
    {"all", "exists", "exists_one", "existsOne", "filter", "map", "transformList"}
)


class _Steps:
    """
    One evaluation: the device, and the steps that are left.
    """

    __slots__ = ("device", "left")

    def __init__(self, device: Fields) -> None:
        self.device = device
        self.left = _MOST_STEPS


_Run = Callable[[_Steps], Value]


@dataclass(frozen=True, slots=True)
class _CelPart:
    """
    A part of an expression; one that names a field keeps of what, for ``has``.
    """

    run: _Run
    field: tuple[_Run, str] | None = None
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
        found = self._run(_Steps(device))
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
            node = _CelPart(_chosen(node.run, yes.run, self._choice().run))
        self._depth -= 1
        return node

    def _either(self) -> _CelPart:
        node = self._both()
        while self._read.took("||"):
            node = _CelPart(_joined(node.run, self._both().run, ends=True))
        return node

    def _both(self) -> _CelPart:
        node = self._relation()
        while self._read.took("&&"):
            node = _CelPart(_joined(node.run, self._relation().run, ends=False))
        return node

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
            node = _CelPart(_counted(arithmetic(sign), node.run, self._sum().run))

    def _sum(self) -> _CelPart:
        node = self._product()
        while sign := self._read.took("+", "-"):
            node = _CelPart(_counted(arithmetic(sign), node.run, self._product().run))
        return node

    def _product(self) -> _CelPart:
        node = self._sign()
        while sign := self._read.took("*", "/", "%"):
            node = _CelPart(_counted(arithmetic(sign), node.run, self._sign().run))
        return node

    def _sign(self) -> _CelPart:
        signs = []
        while sign := self._read.took("!", "-"):
            signs.append(sign)
            if len(signs) > _DEEPEST:
                raise CelError(f"is nested deeper than {_DEEPEST}")
        node = self._member()
        for sign in reversed(signs):
            node = _CelPart(_counted(arithmetic(f"{sign}_"), node.run))
        return node

    def _member(self) -> _CelPart:
        node = self._primary()
        while sign := self._read.took(".", ".?", "["):
            if sign == "[":
                is_maybe = bool(self._read.took("?"))
                key = self._choice()
                self._read.must("]")
                self.sees_all |= key.literal is None
                node = _CelPart(_item(node.run, key.run, is_maybe=is_maybe))
                continue
            name = self._read.name()
            if sign == ".?":
                node = _CelPart(_item(node.run, _constant(name), is_maybe=True))
            elif self._read.took("("):
                node = self._method(node, name)
            else:
                run = _item(node.run, _constant(name), is_maybe=False)
                node = _CelPart(run, field=(node.run, name))
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
        return _CelPart(_counted(call, of.run, *(each.run for each in given)))

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
            return _CelPart(_constant(word.said), literal=word.said)
        if word.sort == "int":
            number = int(word.said, 0 if "x" in word.said else 10)
            return _CelPart(_constant(number), literal=number)
        return self._named(word.said)

    def _named(self, name: str) -> _CelPart:
        if name in {"true", "false"}:
            return _CelPart(_constant(name == "true"))
        if name == "device":
            return _CelPart(lambda steps: steps.device)
        if not self._read.took("("):
            raise CelError(f"{name} is not known: there is device")
        given = self._given()
        if name == "has":
            if len(given) != 1 or given[0].field is None:
                raise CelError("has takes one field, such as has(a.b)")
            return _CelPart(_has(*given[0].field))
        if name not in FUNCTIONS:
            raise CelError(f"the function {name} is not known")
        if len(given) != 1:
            raise CelError(f"{name} takes 1 argument and has {len(given)}")
        return _CelPart(_counted(FUNCTIONS[name], given[0].run))

    def _list(self) -> _CelPart:
        runs: list[_Run] = []
        while not self._read.took("]"):
            runs.append(self._choice().run)
            if not self._read.took(","):
                self._read.must("]")
                break
        return _CelPart(_counted(lambda *values: values, *runs))


def _constant(value: Value) -> _Run:
    return lambda _: value


def _counted(call: Callable[..., Value], *runs: _Run) -> _Run:
    """
    Evaluate what a call is given, and make it: one step.
    """

    def run(steps: _Steps) -> Value:
        steps.left -= 1
        if steps.left < 0:
            raise CelError(f"takes more than {_MOST_STEPS:,} steps")
        return call(*(each(steps) for each in runs))

    return run


def _truth(value: Value) -> bool:
    if not isinstance(value, bool):
        raise ThrownError(f"has {word_for(value)} where a bool is needed")
    return value


def _chosen(condition: _Run, yes: _Run, no: _Run) -> _Run:
    return lambda steps: (yes if _truth(condition(steps)) else no)(steps)


def _joined(left: _Run, right: _Run, *, ends: bool) -> _Run:
    """
    Join two conditions: either side decides alone, even where the other one throws.
    """

    def run(steps: _Steps) -> Value:
        try:
            if _truth(left(steps)) is ends:
                return ends
        except ThrownError:
            if _truth(right(steps)) is ends:
                return ends
            raise
        return _truth(right(steps))

    return run


def _found(value: Value, key: Value) -> Value | None:
    """
    Look a key up; none where it is not there.
    """
    if isinstance(value, Fields):
        return value.get(key) if isinstance(key, str) else None
    if isinstance(value, tuple) and type(key) is int:
        return value[key] if 0 <= key < len(value) else None
    raise ThrownError(f"looks for {key!r} in {word_for(value)}")


def _item(of: _Run, key: _Run, *, is_maybe: bool) -> _Run:
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

    return _counted(look, of, key)


def _has(of: _Run, name: str) -> _Run:
    def look(value: Value) -> Value:
        if isinstance(value, Maybe):
            return value.value is not None and _has_key(value.value, name)
        return _has_key(value, name)

    return _counted(look, of)


def _has_key(value: Value, name: str) -> bool:
    if not isinstance(value, Fields):
        raise ThrownError(f"asks {word_for(value)} for a field {name}")
    return name in value.values
