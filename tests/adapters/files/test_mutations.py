"""
Whatever is done to a file, it is read or refused, and never ends in a traceback.
"""

from copy import deepcopy

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.files import scenario_of
from adapters.files.text import parse_text
from models.errors import InputRejectedError
from tests.adapters.documents import everything

ODD = [
    None,
    True,
    -1,
    0,
    7,
    2**70,
    1.5,
    float("inf"),
    "",
    "x",
    "16Gi",
    "1h",
    "unlimited",
    "default/x",
    [],
    {},
    [[]],
    [None],
    {"x": {}},
    [{"name": "x"}],
    {1: 2},
]


@given(st.data())
@settings(max_examples=400)
def test_a_mutated_document_is_read_or_refused(data):
    document = everything()
    for _ in range(data.draw(st.integers(1, 4))):
        mutate(document, data)

    assert all(map(str, problems_of(lambda: document)))


@given(st.data())
@settings(max_examples=200)
def test_a_mutated_text_is_read_or_refused(data):
    text = yaml.safe_dump(everything())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 20))
        new = data.draw(st.text(":{}[]-&*!|>'\"\n #%@\t,?~x0é\x07", max_size=5))
        text = text[:at] + new + text[at + cut :]

    assert all(map(str, problems_of(lambda: parse_text("test.yaml", text))))


def problems_of(read) -> list:
    """
    Read a document; give the problems it was refused with, none if it was not.
    """
    try:
        scenario_of("test", read())
    except InputRejectedError as error:
        return error.problems or [""]
    return []


def mutate(document, data) -> None:
    here = document
    while True:
        if isinstance(here, dict) and here:
            key = data.draw(st.sampled_from(sorted(here, key=str)))
        elif isinstance(here, list) and here:
            key = data.draw(st.integers(0, len(here) - 1))
        else:
            return
        if not isinstance(here[key], dict | list) or data.draw(st.booleans()):
            break
        here = here[key]
    match data.draw(st.sampled_from(["replace", "drop", "double", "rename"])):
        case "replace":
            here[key] = deepcopy(data.draw(st.sampled_from(ODD)))
        case "drop":
            del here[key]
        case "double" if isinstance(here, list):
            here.append(deepcopy(here[key]))
        case "rename" if isinstance(here, dict):
            here[f"{key}x"] = here.pop(key)
        case _:
            pass
