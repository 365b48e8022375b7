"""
Device selectors: what is known, what throws, and what is refused.
"""

import time

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
        (r"'\q' == 'q'", "escape"),
    ],
)
def test_what_is_not_known_is_refused(text, why):
    with pytest.raises(CelError, match=why):
        selector_of(text)


def test_an_expression_that_takes_too_many_steps_is_ended():
    text = "[" + ",".join("1" for _ in range(900)) + "]"
    began = time.process_time()
    found = selector_of(" && ".join([f"1 in {text}"] * 5))
    assert found.holds(GPU)
    hostile = selector_of("device.driver.matches('a*a*a*b')")
    hostile.holds(Fields({"driver": "a" * 64}))
    assert time.process_time() - began < 2
