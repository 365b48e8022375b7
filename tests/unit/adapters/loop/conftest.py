import pytest

from tests.unit.adapters.loop.playing import WAITS, Play


@pytest.fixture
def play(tmp_path):
    return Play(WAITS, tmp_path)
