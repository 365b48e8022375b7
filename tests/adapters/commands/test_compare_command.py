"""
`phalanx compare`: both strategies side by side.
"""

import json

from tests.adapters.commands.command import phalanx


def test_compare_pairs_both_strategies(small, capsys):
    assert 0 == phalanx("compare", small, "-o", "json")
    document = json.loads(capsys.readouterr().out)

    (item,) = document["items"]
    assert {"gpus": 4, "pods": 2, "gangs": 1} == {
        word: item["solver"][word] for word in ("gpus", "pods", "gangs")
    }
    assert 1 == document["summary"]["pairs"]
    assert 0.0 == item["gap"]


def test_compare_says_what_each_column_counts_and_who_is_better(small, capsys):
    assert 0 == phalanx("compare", small)
    groups, head, row, _, first, second = capsys.readouterr().out.splitlines()

    assert ["GPUS", "PODS", "GANGS", "SECONDS"] == groups.split()
    assert head.index("GREEDY") == groups.index("GPUS")
    assert "small.json" in row
    assert row.endswith("equal")
    assert first.startswith("1 input, each planned twice with one policy and seed")
    assert "4 with greedy, 4 with the solver (+0, +0.0 %)" in second


def test_compare_as_csv_names_every_column(small, capsys):
    assert 0 == phalanx("compare", small, "-o", "csv")
    head, row = capsys.readouterr().out.splitlines()

    names = head.split(",")
    assert len(set(names)) == len(names) == len(row.split(","))
    assert {"greedy_gpus", "solver_gpus", "better", "tier"} <= set(names)


def test_a_report_says_of_who_waits_what_describe_says(tmp_path, capsys):
    demo = "scenarios/demo/fragmented.yaml"
    assert 0 == phalanx("compare", demo, "--markdown", str(tmp_path / "page.md"))
    page = (tmp_path / "page.md").read_text()
    capsys.readouterr()
    assert 0 == phalanx("describe", "gang", "vision-sweep", "-f", demo)
    described = capsys.readouterr().out

    (said,) = (line for line in page.splitlines() if "default/vision-sweep |" in line)
    sentence = said.split(" | ")[3].removeprefix("outranked: ")
    assert sentence.startswith("could start alone; needs 12 GPUs; this plan gives")
    assert sentence in described
