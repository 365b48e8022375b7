import json
from json import JSONDecodeError

import pytest

from adapters.kube.api.list_pages import read_list

LIST = {
    "kind": "PodList",
    "metadata": {"resourceVersion": "7", "continue": "x"},
    "items": [{"a": 1}, {"b": [1, {"items": "]"}]}, {"c": "},{"}],
}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize("how", [{}, {"indent": 2}, {"separators": (",", ":")}])
def test_a_list_is_read_as_the_parser_reads_it(order, how):
    keys = [list(LIST)[at] for at in order]
    found = []
    rest = read_list(
        json.dumps({k: LIST[k] for k in keys}, **how).encode(), found.append, refused
    )

    assert LIST == {**rest, "items": found}


@pytest.mark.parametrize("items", [None, []])
def test_a_list_may_be_empty(items):
    found = []
    text = json.dumps({"items": items, "metadata": {}})
    read_list(text.encode(), found.append, refused)

    assert [] == found


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "{", '{"items"', '{"items":[{}', '{"items":[{} {}]}', "{a"]
)
def test_what_is_no_list_is_refused(text):
    with pytest.raises(JSONDecodeError):
        read_list(text.encode(), print, refused)


def refused(found):
    raise AssertionError(found)


def odd(value: str) -> str:
    """
    Write an object with something in its spec that is not read.
    """
    meta = '{"labels":{"name":"no"},"name":"a\\u0062","namespace":"ns"}'
    return f'{{"spec":{{"x":{value}}},"metadata":{meta},"more":[{{"name":"no"}}]}}'


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("[" * 5000 + "]" * 5000, "nested deeper"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "nested deeper"),
        ("9" * 5000, "ValueError"),
        (f'"{"y" * 5_000_000}"', "characters are too many"),
    ],
)
def test_an_object_that_cannot_be_parsed_is_named_and_the_others_are_read(value, why):
    found, passed = [], []
    text = f'{{"items":[{{"a":1}}, {odd(value)} ,{{"b":2}},7],"metadata":{{"c":3}}}}'
    rest = read_list(text.encode(), found.append, passed.append)

    assert [{"a": 1}, {"b": 2}] == found
    assert {"metadata": {"c": 3}} == rest
    assert ["ns/ab", ""] == [one.key for one in passed]
    assert why in passed[0].why
    assert "not a mapping" in passed[1].why


@pytest.mark.parametrize(
    "value", ["[" * 5000, "[" * 5000 + "]" * 4999, '"' + "[" * 3000, "9" * 5000 + '"']
)
def test_an_object_that_does_not_end_is_refused(value):
    with pytest.raises(JSONDecodeError):
        read_list(f'{{"items":[{odd(value)}]}}'.encode(), print, print)


def test_what_is_no_letter_is_replaced():
    found = []
    text = rb'{"items":[{"a":"\xff","b":"\ud83d x \\\ud83d \ud83d\ude00 \udc00"}]}'
    read_list(text.replace(rb"\xff", b"\xff"), found.append, refused)

    assert [{"a": "\ufffd", "b": "\ufffd x \\\ufffd \U0001f600 \ufffd"}] == found
