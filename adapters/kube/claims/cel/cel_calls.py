"""
What a device selector may call: comparisons, arithmetic, functions of texts and such.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal

from adapters.kube.claims.cel.cel_values import (
    Amount,
    Fields,
    Maybe,
    Semver,
    ThrownError,
    Value,
    amount,
    same,
    semver,
    word_for,
)
from adapters.kube.claims.cel.patterns import LONGEST_TEXT, pattern_of

_Call = Callable[..., Value]
_LARGEST = 2**63
_MOST_LETTERS = 65_536


def arithmetic(sign: str) -> _Call:
    """
    Give what a sign does; those of one side end in an underscore.
    """
    return _SIGNS[sign]


def _ordered(left: Value, right: Value) -> tuple[Value, Value]:
    """
    Give two values that can be ordered.
    """
    if type(left) is not type(right) or not isinstance(left, int | str):
        raise ThrownError(f"orders {word_for(left)} and {word_for(right)}")
    return left, right


def _less(left: Value, right: Value) -> bool:
    one, other = _ordered(left, right)
    return one < other  # type: ignore[operator]


def _most(value: int) -> int:
    if not -_LARGEST <= value < _LARGEST:
        raise ThrownError("calculates with numbers that are too large")
    return value


def _numbers(left: Value, right: Value) -> tuple[int, int]:
    if type(left) is not int or type(right) is not int:
        raise ThrownError(f"calculates with {word_for(left)} and {word_for(right)}")
    return left, right


def _plus(left: Value, right: Value) -> Value:
    if isinstance(left, str) and isinstance(right, str):
        if len(left) + len(right) > _MOST_LETTERS:
            raise ThrownError(f"makes a text of more than {_MOST_LETTERS:,} letters")
        return left + right
    one, other = _numbers(left, right)
    return _most(one + other)


def _minus(left: Value, right: Value) -> Value:
    one, other = _numbers(left, right)
    return _most(one - other)


def _times(left: Value, right: Value) -> Value:
    one, other = _numbers(left, right)
    return _most(one * other)


def _quotient(left: Value, right: Value) -> Value:
    one, other = _numbers(left, right)
    if not other:
        raise ThrownError("divides by zero")
    found = abs(one) // abs(other)
    return _most(found if (one < 0) == (other < 0) else -found)


def _rest(left: Value, right: Value) -> Value:
    one, other = _numbers(left, right)
    if not other:
        raise ThrownError("divides by zero")
    found = abs(one) % abs(other)
    return found if one >= 0 else -found


def _in(value: Value, of: Value) -> Value:
    if isinstance(of, Fields):
        return isinstance(value, str) and value in of.values
    if isinstance(of, tuple):
        return any(same(value, each) for each in of)
    raise ThrownError(f"looks for something in {word_for(of)}")


def _not(value: Value) -> Value:
    if not isinstance(value, bool):
        raise ThrownError(f"has {word_for(value)} where a bool is needed")
    return not value


def _negative(value: Value) -> Value:
    return _minus(0, value)


_SIGNS: Mapping[str, _Call] = {
    "==": same,
    "!=": lambda left, right: not same(left, right),
    "<": _less,
    ">": lambda left, right: _less(right, left),
    "<=": lambda left, right: not _less(right, left),
    ">=": lambda left, right: not _less(left, right),
    "in": _in,
    "+": _plus,
    "-": _minus,
    "*": _times,
    "/": _quotient,
    "%": _rest,
    "!_": _not,
    "-_": _negative,
}


def _text(value: Value, what: str) -> str:
    if not isinstance(value, str):
        raise ThrownError(f"calls {what} of {word_for(value)}")
    return value


def _size(value: Value) -> Value:
    if isinstance(value, str | tuple):
        return len(value)
    raise ThrownError(f"asks for the size of {word_for(value)}")


def _of_texts(name: str, call: Callable[[str, str], bool]) -> _Call:
    return lambda value, given: call(_text(value, name), _text(given, name))


def _matches(value: str, pattern: str) -> bool:
    if len(value) > LONGEST_TEXT:
        raise ThrownError(f"matches a text of more than {LONGEST_TEXT} letters")
    return pattern_of(pattern).search(value) is not None


def _compared(left: Value, right: Value) -> int:
    """
    Compare two quantities, or two versions: -1, 0 or 1.
    """
    if isinstance(left, Amount) and isinstance(right, Amount):
        return (left > right) - (left < right)
    if isinstance(left, Semver) and isinstance(right, Semver):
        return (left > right) - (left < right)
    raise ThrownError(f"compares {word_for(left)} and {word_for(right)}")


def _amounts(left: Value, right: Value) -> tuple[Decimal, Decimal]:
    if type(right) is int:
        right = Amount(Decimal(right))
    if not isinstance(left, Amount) or not isinstance(right, Amount):
        raise ThrownError(f"adds {word_for(left)} and {word_for(right)}")
    return left.number, right.number


def _add(left: Value, right: Value) -> Value:
    one, other = _amounts(left, right)
    return Amount(one + other)


def _sub(left: Value, right: Value) -> Value:
    one, other = _amounts(left, right)
    return Amount(one - other)


def _is_integer(value: Value) -> Value:
    if not isinstance(value, Amount):
        raise ThrownError(f"asks {word_for(value)} whether it is an integer")
    return value.number == value.number.to_integral_value()


def _as_integer(value: Value) -> Value:
    if not isinstance(value, Amount) or not _is_integer(value):
        raise ThrownError("takes a number with a fraction for an integer")
    return _most(int(value.number))


def _sign(value: Value) -> Value:
    if not isinstance(value, Amount):
        raise ThrownError(f"asks for the sign of {word_for(value)}")
    return (value.number > 0) - (value.number < 0)


def _number_of(at: int) -> _Call:
    def call(value: Value) -> Value:
        if not isinstance(value, Semver):
            raise ThrownError(f"asks {word_for(value)} for a part of a version")
        return value.numbers[at]

    return call


def _or_value(value: Value, other: Value) -> Value:
    if not isinstance(value, Maybe):
        raise ThrownError(f"calls orValue of {word_for(value)}")
    return other if value.value is None else value.value


def _or(value: Value, other: Value) -> Value:
    if not isinstance(value, Maybe) or not isinstance(other, Maybe):
        raise ThrownError("calls or of what is not an optional")
    return other if value.value is None else value


def _has_value(value: Value) -> Value:
    if not isinstance(value, Maybe):
        raise ThrownError(f"calls hasValue of {word_for(value)}")
    return value.value is not None


def _value(value: Value) -> Value:
    if not isinstance(value, Maybe) or value.value is None:
        raise ThrownError("takes the value of an optional that has none")
    return value.value


METHODS: Mapping[str, tuple[int, _Call]] = {
    "startsWith": (1, _of_texts("startsWith", str.startswith)),
    "endsWith": (1, _of_texts("endsWith", str.endswith)),
    "contains": (1, _of_texts("contains", str.__contains__)),
    "matches": (1, _of_texts("matches", _matches)),
    "lowerAscii": (0, lambda value: _text(value, "lowerAscii").lower()),
    "upperAscii": (0, lambda value: _text(value, "upperAscii").upper()),
    "size": (0, _size),
    "compareTo": (1, _compared),
    "isGreaterThan": (1, lambda left, right: _compared(left, right) > 0),
    "isLessThan": (1, lambda left, right: _compared(left, right) < 0),
    "add": (1, _add),
    "sub": (1, _sub),
    "isInteger": (0, _is_integer),
    "asInteger": (0, _as_integer),
    "sign": (0, _sign),
    "major": (0, _number_of(0)),
    "minor": (0, _number_of(1)),
    "patch": (0, _number_of(2)),
    "orValue": (1, _or_value),
    "or": (1, _or),
    "hasValue": (0, _has_value),
    "value": (0, _value),
}
"""
What may be called of a value: how many arguments it takes, and what it does.
"""


def _tells(read: Callable[[str], Value], name: str) -> _Call:
    def call(value: Value) -> Value:
        try:
            read(_text(value, name))
        except ThrownError:
            return False
        return True

    return call


FUNCTIONS: Mapping[str, _Call] = {
    "size": _size,
    "quantity": lambda value: amount(_text(value, "quantity")),
    "isQuantity": _tells(amount, "isQuantity"),
    "semver": lambda value: semver(_text(value, "semver")),
    "isSemver": _tells(semver, "isSemver"),
}
"""
What may be called by itself, with one argument.
"""
