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
        json.dumps({k: LIST[k] for k in keys}, **how).encode(), found.append
    )

    assert LIST == {**rest, "items": found}


@pytest.mark.parametrize("items", [None, []])
def test_a_list_may_be_empty(items):
    found = []
    read_list(json.dumps({"items": items, "metadata": {}}).encode(), found.append)

    assert [] == found


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "{", '{"items"', '{"items":[{}', '{"items":[{} {}]}', "{a"]
)
def test_what_is_no_list_is_refused(text):
    with pytest.raises(JSONDecodeError):
        read_list(text.encode(), print)


def test_text_that_is_not_utf_8_is_refused():
    with pytest.raises(ValueError, match="utf-8"):
        read_list(b'{"items":["\xff"]}', print)
