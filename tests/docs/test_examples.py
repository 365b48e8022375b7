import json
import shlex
from pathlib import Path

import pytest
import yaml

from adapters.cli.main import run
from adapters.compare.expectations import differences
from adapters.files import read_scenario
from adapters.service.run_settings import is_config, read_config
from solver.round import decide
from tests.docs.pages import REPOSITORY, blocks, is_session, name_of, pages, steps
from tests.docs.sessions import (
    COMMANDS,
    NOT_RUN,
    furnish,
    page_and_line,
    play,
    settled,
)

ALL = [block for page in pages() for block in blocks(page)]
GROUPS = frozenset(
    {"scenario", "config", "snapshot", "get", "describe", "trace", "study"}
)
WITH_SESSIONS = sorted({block.page for block in ALL if is_session(block)})


def of_language(language: str) -> list:
    return [
        pytest.param(block, id=page_and_line(block))
        for block in ALL
        if block.language == language
    ]


@pytest.mark.parametrize("page", WITH_SESSIONS, ids=name_of)
def test_every_command_prints_what_the_page_shows(page, tmp_path, monkeypatch, capsys):
    furnish(tmp_path, page)
    monkeypatch.chdir(tmp_path)

    def capture() -> str:
        captured = capsys.readouterr()
        return captured.out + captured.err

    for block in filter(is_session, blocks(page)):
        for step in steps(block):
            if step.command in NOT_RUN:
                assert not step.output
                continue
            assert settled(step.output) == settled(play(step.command, capture))


@pytest.mark.parametrize("block", of_language("console"))
def test_every_command_shown_exists(block, capsys):
    for line in block.text.splitlines():
        command = line.removeprefix("$ ")
        if command.partition(" ")[0] not in COMMANDS:
            continue
        words = shlex.split(command, comments=True)
        names = words[1:3] if words[1] in GROUPS else words[1:2]
        assert 0 == run([*names, "--help"])
        known = capsys.readouterr().out
        assert [] == [w for w in words if w.startswith("--") and w not in known]


@pytest.mark.parametrize("block", of_language("yaml"))
def test_every_yaml_example_loads(block, tmp_path: Path):
    assert yaml.safe_load(block.text)
    is_whole = block.text.startswith("apiVersion:") and "…" not in block.text
    if not is_whole or block.name.startswith("wrong"):
        return
    path = tmp_path / "example.yaml"
    path.write_text(block.text, encoding="utf-8")
    if is_config(str(path)):
        assert read_config(str(path)).run
        return
    scenario = read_scenario(str(path))
    for strategy in ("solver", "greedy") if scenario.expect else ():
        plan = decide(scenario.snapshot, scenario.policy, strategy=strategy)

        assert [] == differences(scenario.expect, scenario.snapshot, plan)


@pytest.mark.parametrize("block", of_language("json") or [None])
def test_every_json_example_loads(block):
    assert block is None or json.loads(block.text)


@pytest.mark.parametrize("block", of_language("python") or [None])
def test_every_python_example_is_taken_from_the_code(block):
    if block is None:
        return
    folders = ("models", "solver", "adapters", "tests")
    files = (p for name in folders for p in (REPOSITORY / name).rglob("*.py"))

    assert any(block.text in path.read_text(encoding="utf-8") for path in files)


def test_blocks_say_their_language():
    assert [] == [page_and_line(block) for block in ALL if not block.language]
