"""
The problems that are told of a document, and pieces of documents.
"""

import pytest

from adapters.files import scenario_of
from models.errors import InputRejectedError
from tests.adapters.documents import scenario

LEAF = {"name": "a", "min": 1}

OTHER = {"name": "b", "min": 1}


def problems(document) -> list[str]:
    with pytest.raises(InputRejectedError) as caught:
        scenario_of("test", document)
    return [str(problem) for problem in caught.value.problems]


def topologies(*names: str) -> list[dict]:
    return [{"name": name, "levels": ["zone", "rack"]} for name in names]


def policy(**fields) -> dict:
    return scenario() | {"policy": fields}
