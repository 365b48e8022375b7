"""
Device selectors: what is known, what throws, and what is refused.
"""

from contextlib import suppress
from random import Random

import pytest

from adapters.kube.claims.cel.cel import selector_of
from adapters.kube.claims.cel.cel_values import (
    EMPTY,
    Fields,
    ThrownError,
    amount,
    semver,
)
from adapters.kube.claims.cel.cel_words import CelError

D = "gpu.nvidia.com"
GPU = Fields(
    {
        "driver": D,
        "attributes": Fields(
            {
                D: Fields(
                    {
                        "type": "gpu",
                        "productName": "NVIDIA H100 80GB HBM3",
                        "index": 3,
                        "healthy": True,
                        "driverVersion": semver("570.86.15"),
                    }
                ),
                "resource.kubernetes.io": Fields({"pcieRoot": "pci0000:17"}),
            },
            EMPTY,
        ),
        "capacity": Fields({D: Fields({"memory": amount("80Gi")})}, EMPTY),
        "allowMultipleAllocations": False,
    }
)
A = f"device.attributes['{D}']"


@pytest.mark.parametrize(
    "text",
    [
        "true",
        f"device.driver == '{D}'",
        f"device.driver == \"{D}\" && {A}.type == 'gpu'",
        f"{A}.productName.startsWith('NVIDIA H100')",
        f"{A}.productName.lowerAscii().contains('h100')",
        f"{A}.productName.matches('^NVIDIA H[0-9]+ 80GB .*$')",
        f"{A}['index'] in [1, 2, 3]",
        f"!({A}.index < 3) && {A}.index >= 3 && {A}.index * 2 - 1 == 5",
        f"{A}.healthy ? {A}.index == 3 : false",
        f"device.capacity['{D}'].memory.compareTo(quantity('40Gi')) >= 0",
        f"device.capacity['{D}'].memory.isGreaterThan(quantity('79Gi'))",
        f"device.capacity['{D}'].memory == quantity('80Gi')",
        f"{A}.driverVersion.compareTo(semver('550.1.0')) > 0",
        f"{A}.driverVersion.isLessThan(semver('570.90.0'))",
        f"{A}.driverVersion.major() == 570",
        f"has({A}.type) && !has({A}.profile)",
        f"'type' in {A} && !('profile' in {A})",
        "!has(device.attributes['other.example.com'].x)",
        f"{A}.?profile.orValue('none') == 'none'",
        f"device.attributes[?'{D}'].?index.orValue(0) == 3",
        f"{A}.?profile.hasValue() || size({A}.type) == 3",
        f"{A}.profile == 'x' || device.driver == '{D}'",
        f"{A}.index != '3'",
        "semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))",
        "-7 / 2 == -3 && -7 % 2 == -1 && 0x10 == 16",
        r"'a\x41\u0042\n' == 'aAB' + '\n' && r'\d' == '\\d'",
    ],
)
def test_a_selector_of_the_known_part_holds(text):
    assert selector_of(text).holds(GPU)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{A}.profile == '1g.10gb'", "no such key: profile"),
        ("device.attributes['other.example.com'].x == 1", "no such key: x"),
        (f"{A}.type", "gives a string and no bool"),
        (f"{A}.index < '4'", "orders an int and a string"),
        (f"{A}.type && true", "a string where a bool is needed"),
        ("1 / 0 == 1", "divides by zero"),
        ("9223372036854775807 + 1 > 0", "too large"),
        ("quantity('ten') == quantity('10')", "not a quantity"),
        (f"{A}.index.startsWith('3')", "calls startsWith of an int"),
    ],
)
def test_a_selector_that_throws_says_why(text, why):
    with pytest.raises(ThrownError, match=why):
        selector_of(text).holds(GPU)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "its end is not expected"),
        ("device.driver ==", "its end is not expected"),
        ("device.driver = 'x'", "cannot be read at letter 15"),
        ("true true", "'true' is not expected at letter 6"),
        ("devices.driver == 'x'", "devices is not known"),
        ("[1, 2].exists(x, x > 1)", "loops"),
        ("[1].all(x, true)", "loops"),
        ("{'a': 1}.a == 1", "maps are not known"),
        ("1.5 > 1", "fraction"),
        ("1u == 1", "unsigned"),
        ("b'x' == b'x'", "bytes"),
        ("device.driver.reverse() == 'x'", "the function reverse is not known"),
        ("math(1) == 1", "the function math is not known"),
        ("has(device)", "has takes one field"),
        ("device.driver.matches(device.driver)", "pattern written as a text"),
        ("device.driver.matches('(a+)+$')", "repeats what repeats"),
        ("device.driver.matches('a*b*c*d*')", "more than 3"),
        (r"device.driver.matches(r'(a)\1')", "not known"),
        ("device.driver.matches('(?=a)')", "not known"),
        ("device.driver.matches('(')", "cannot be read"),
        ("(" * 60 + "true" + ")" * 60, "nested deeper"),
        ("!" * 60 + "true", "nested deeper"),
        ("true || " * 2000 + "true", "letters"),
        (" + ".join("1" * 2000) + " == 2000", "nested deeper"),
        ("device" + ".a" * 5000, "nested deeper"),
        ("device" + "['a']" * 1900, "nested deeper"),
        (("(" + "-" * 40) * 40 + "1" + ")" * 40, "nested deeper"),
        ("9223372036854775808 > 0", "above"),
        ("9" * 5000 + " > 0", "above"),
        ("0x" + "f" * 5000 + " > 0", "above"),
        (r"'\q' == 'q'", "escape"),
    ],
)
def test_what_is_not_known_is_refused(text, why):
    with pytest.raises(CelError, match=why):
        selector_of(text)


@pytest.mark.timeout(60)  # by an engine that tries again without end it is not done
@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (" && ".join([f"1 in [{','.join('1' * 900)}]"] * 5), True),
        (" && ".join(["-" * 40 + "1 == 1"] * 200), True),
        ("device.driver.matches('a*a*a*b')", False),
        ("||".join(["false"] * 1400), False),
        ("&&".join(["true"] * 1400), True),
    ],
)
def test_an_expression_ends_whatever_it_asks(text, holds):
    assert selector_of(text).holds(Fields({"driver": "a" * 64})) is holds


WORDS = """
device . driver attributes capacity ['gpu.nvidia.com'] model memory true false 1 0 9
'a' "b" 0x7f ( ) [ ] , ! - + * / % == != < <= in && || ? : .? has( size( quantity('1Gi')
.matches('a+') .startsWith('a') .isGreaterThan( .orValue( r'\\d' '\\n' @ '
"""


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_written_nothing_but_a_refusal_is_raised(seed):
    random, words = Random(seed), WORDS.split()
    for _ in range(100):
        some = [random.choice(words) for _ in range(random.randint(1, 12))]
        text = random.choice(["", " "]).join(some) * random.choice([1, 1, 40, 400])
        with suppress(CelError, ThrownError):
            selector_of(text).holds(GPU)


SHAPES = (
    ("({}) && ({})", lambda a, b, _: a and b),
    ("({}) || ({})", lambda a, b, _: a or b),
    ("!({}) || ({})", lambda a, b, _: not a or b),
    ("({}) ? ({}) : ({})", lambda a, b, c: b if a else c),
    ("({}) == ({})", lambda a, b, _: a == b),
)


@pytest.mark.parametrize("seed", range(20))
def test_parts_join_to_what_they_say_until_that_is_too_large(seed):
    random = Random(seed)
    parts = [("true", True), ("2 < 1", False), ("device.driver != 'x'", True)]
    for _ in range(60):
        (shape, says), some = random.choice(SHAPES), random.sample(parts, 3)
        text = shape.format(*(each for each, _ in some))
        with suppress(TooLargeError):
            parts.append((text, held(text)))
            assert says(*(value for _, value in some)) == parts[-1][1], text


class TooLargeError(Exception):
    """
    An expression of known parts is too long or too deep.
    """


def held(text):
    try:
        return selector_of(text).holds(GPU)
    except CelError as error:
        if "deeper" in str(error) or "letters" in str(error):
            raise TooLargeError from error
        raise
