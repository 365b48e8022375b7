import json
from pathlib import Path

import pytest

from tests.adapters.documents import scenario


@pytest.fixture
def small(tmp_path) -> Path:
    """
    A file with a gang that starts and one that never can.
    """
    document = scenario(
        gangs=[
            {"name": "train", "min": 2, "requests": {"nvidia.com/gpu": 2}},
            {"name": "giant", "min": 1, "requests": {"nvidia.com/gpu": 64}},
        ]
    )
    document["expect"] = {"starts": {"train": 2}, "waits": {"giant": "NoFittingNode"}}
    path = tmp_path / "small.json"
    path.write_text(json.dumps(document))
    return path
