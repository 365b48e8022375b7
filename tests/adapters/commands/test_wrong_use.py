"""
What is asked for and is not there: named, with exit code 2.
"""

import pytest
import yaml

from adapters.cli.main import run
from tests.adapters.documents import scenario

GPU = "nvidia.com/gpu"


@pytest.fixture
def lab(tmp_path):
    gangs = [
        {"name": f"a-{n}", "min": 1, "requests": {GPU: 1}} for n in (10, 2, 100, 1)
    ]
    path = tmp_path / "lab.yaml"
    path.write_text(yaml.safe_dump(scenario(gangs=gangs)))
    return str(path)


def said(capsys, *words):
    code = run([*words])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_a_queue_that_is_not_there_is_named(lab, capsys):
    code, _, notes = said(capsys, "get", "gangs", "-q", "nonsense", "-f", lab)

    assert 2 == code
    assert "there is no queue 'nonsense' in" in notes


def test_a_state_that_no_gang_is_in_does_not_deny_the_gangs(lab, capsys):
    code, shown, _ = said(capsys, "get", "gangs", "--state", "Running", "-f", lab)

    assert 0 == code
    assert shown.startswith("None of the 4 gangs in ")


@pytest.mark.parametrize("kind", ["gang", "queue", "node"])
@pytest.mark.parametrize("verb", ["get", "describe"])
def test_a_name_that_nothing_has_is_wrong_use(verb, kind, lab, capsys):
    code, _, notes = said(capsys, verb, kind, "nonsense", "-f", lab)

    assert 2 == code
    assert f"there is no {kind} 'nonsense'" in notes


def test_names_are_listed_as_people_count(lab, capsys):
    shown = said(capsys, "get", "gangs", "-o", "name", "-f", lab)[1]

    assert ["a-1", "a-2", "a-10", "a-100"] == [
        name.removeprefix("default/") for name in shown.split()
    ]


@pytest.mark.parametrize("name", ["", " "])
def test_a_scheduler_has_a_name(name, lab, capsys):
    code, _, notes = said(capsys, "plan", lab, "--scheduler-name", name)

    assert 2 == code
    assert "a scheduler has a name" in notes


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--nodes", "many"), "'many' is neither a number nor a range"),
        (("--nodes", "2", "--set", "nonsense=1"), "--set nonsense"),
        (("--nodes", "2", "--target", "soon"), "--target 'soon'"),
    ],
)
def test_a_study_of_nonsense_is_wrong_use(words, what, tmp_path, capsys):
    path = tmp_path / "jobs.csv"
    path.write_text("job,submit,duration,gpus\na,0,60,1\n")
    base = (
        "study",
        "capacity",
        str(path),
        "--cluster",
        "2x8",
        "-O",
        str(tmp_path / "o"),
    )
    code, _, notes = said(capsys, *base, *words)

    assert 2 == code
    assert what in notes


def test_results_that_cannot_go_there_are_wrong_use(tmp_path, capsys):
    path = tmp_path / "jobs.csv"
    path.write_text("job,submit,duration,gpus\na,0,60,1\n")
    base = ("replay", str(path), "--cluster", "2x8", "-O", str(path))
    code, _, notes = said(capsys, *base, "--strategy", "greedy")

    assert 2 == code
    assert "do: name another path" in notes


def test_a_folder_that_is_not_there_to_write_to_is_wrong_use(tmp_path, capsys):
    path = tmp_path / "jobs.csv"
    path.write_text("job,submit,duration,gpus\na,0,60,1\n")
    to = tmp_path / "missing" / "jobs.csv"
    code, _, notes = said(capsys, "trace", "convert", str(path), "--to", str(to))

    assert 2 == code
    assert "do: name another path" in notes


def test_a_cluster_that_is_no_size_and_no_file_says_what_one_is(tmp_path, capsys):
    path = tmp_path / "jobs.csv"
    path.write_text("job,submit,duration,gpus\na,0,60,1\n")
    code, _, notes = said(capsys, "replay", str(path), "--cluster", "6x")

    assert 4 == code
    assert "6x: 1 problem" in notes
    assert "neither a size nor a file (say 60x8" in notes
