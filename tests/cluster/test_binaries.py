"""
Without an API server the cluster tests are skipped, and in CI they fail.
"""

import pytest

from tests.cluster import binaries


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)


@pytest.mark.parametrize(
    ("environment", "command", "code", "word"),
    [
        ("", [], binaries.TO_BE_SKIPPED, "Skipped"),
        ("", ["false"], 0, "Skipped"),
        ("true", [], 1, "Failed"),
        ("true", ["true"], 1, "Failed"),
    ],
)
@pytest.mark.usefixtures("nothing")
def test_without_an_api_server_one_sentence_says_why(
    environment, command, code, word, monkeypatch, capfd
):
    monkeypatch.setenv("CI", environment)

    assert code == binaries.main(command)
    assert capfd.readouterr().err.startswith(f"{word}: KUBEBUILDER_ASSETS (")


@pytest.mark.usefixtures("nothing")
def test_the_command_runs_where_there_is_one(tmp_path, capfd):
    for name in binaries.NAMES:
        (tmp_path / name).touch()

    assert [0, 1] == [binaries.main([word]) for word in ("true", "false")]
    assert binaries.main([]) == 0
    assert str(tmp_path) in capfd.readouterr().err
