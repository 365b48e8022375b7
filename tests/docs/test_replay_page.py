"""
The page of replays: every key and column that it names is in a real folder, and back.
"""

import csv
import json
import re
from itertools import chain
from pathlib import Path

import pytest

from adapters.cli.main import run
from tests.docs.pages import REPOSITORY

PAGE = (REPOSITORY / "docs" / "reference" / "replay.md").read_text("utf-8")
TRACE = """\
job,submit,duration,gpus,pods,queue,fails
a,0,3600,8,1,red,
b,10,5000,4,3,blue,60
c,20,3600,8,1,red,
d,30,50,1,1,blue,
e,40,1000,8,2,red,
f,50,1000,8,9,red,
g,60,90000,8,2,red,
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """
    Play a small trace with three strategies.
    """
    place = tmp_path_factory.mktemp("played")
    (place / "jobs.csv").write_text(TRACE)
    words = ["replay", str(place / "jobs.csv"), "--cluster", "2x8", "--workers", "1"]
    words += ["--quotas", "gpu-hours"]
    for name in ("fifo", "greedy", "solver"):
        words += ["--strategy", name]
    assert 0 == run([*words, "-O", str(place / "out")])
    return place / "out"


def part(heading: str) -> str:
    """
    Give what stands below a heading.
    """
    return re.split(rf"^### {re.escape(heading)}$", PAGE, flags=re.MULTILINE)[1].split(
        "\n### "
    )[0]


def example(heading: str) -> dict:
    """
    Read the example below a heading.
    """
    return json.loads(part(heading).split("```json\n")[1].split("```")[0])


def keys(value, path: str = "") -> set[str]:
    """
    Name every key of a document; what is listed counts together.
    """
    if isinstance(value, dict):
        found = {f"{path}.{key}".lstrip(".") for key in value}
        return found.union(*(keys(v, f"{path}.{k}") for k, v in value.items()))
    if isinstance(value, list):
        return set().union(*(keys(each, path) for each in value))
    return set()


def under(names: set[str], heads: tuple[str, ...]) -> set[str]:
    """
    Leave out what stands below some keys.
    """
    return {name for name in names if not name.startswith(heads)}


OPEN = ("settings.policy.", "runs.metrics.", "trace.repaired.", "trace.leftOut.")


@pytest.mark.parametrize("name", ["results.json", "timings.json"])
def test_a_document_has_the_keys_that_are_documented(folder, name):
    written = keys(json.loads((folder / name).read_text("utf-8")))

    assert under(keys(example(name)), OPEN) == under(written, OPEN)


def metrics_documented() -> set[str]:
    """
    Read the first column of the table of metrics, ``.p90`` being beside its neighbour.
    """
    table = part("results.json").split("`metrics` of a run:")[1]
    found = set()
    for row in re.findall(r"^\| (`.+?) \|", table, flags=re.MULTILINE):
        head = ""
        for name in re.findall(r"`([^`]+)`", row):
            head = head if name.startswith(".") else name.rpartition(".")[0]
            found.add(f"{head}{name}" if name.startswith(".") else name)
    return found


def test_a_run_has_the_metrics_that_are_documented(folder):
    document = json.loads((folder / "results.json").read_text("utf-8"))
    written = chain(*(keys(each["metrics"]) for each in document["runs"]))
    leaves = {name for name in written if not name.startswith("wait.bySize.")}
    groups = {name.rpartition(".")[0] for name in leaves}

    assert metrics_documented() == leaves - groups


def test_sizes_of_waits_have_the_keys_that_are_documented(folder):
    document = json.loads((folder / "results.json").read_text("utf-8"))
    row = document["runs"][0]["metrics"]["wait"]["bySize"][0]
    said = re.search(r"list of `\{(.*?)\}`", PAGE)[1]

    assert re.findall(r'"(\w+)"(?=[:,]|$)', said) == list(row)


@pytest.mark.parametrize("name", ["jobs.csv", "series.csv"])
def test_a_table_has_the_columns_that_are_documented(folder, name):
    rows = re.findall(r"^\| (`.+?) \|", part(name), flags=re.MULTILINE)
    said = [column for row in rows for column in re.findall(r"`(\w+)`", row)]

    assert said == head_of(folder / "runs/greedy/seed-0" / name)


def test_the_table_of_queues_has_the_columns_that_are_documented(folder):
    said = re.findall(r"`(\w+)`", part("queues.csv"))

    assert said == head_of(folder / "runs/greedy/seed-0/queues.csv")


def test_a_line_of_a_round_has_the_keys_that_are_documented(folder):
    said = re.findall(r'"(\w+)"', part("rounds.jsonl").partition("}")[0])
    lines = (folder / "runs/solver/seed-0/rounds.jsonl").read_text("utf-8")

    assert said == list(json.loads(lines.splitlines()[0]))


def test_a_folder_has_the_files_that_are_documented(folder):
    tree = PAGE.split("## The folder\n")[1].split("```")[1]
    said = set(re.findall(r"^ +([\w-]+\.\w+)", tree, flags=re.MULTILINE))
    written = {path.name for path in folder.rglob("*") if path.is_file()}

    assert said - {"checkpoint.json"} == written


def head_of(path: Path) -> list[str]:
    """
    Read the names of the columns.
    """
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file))
