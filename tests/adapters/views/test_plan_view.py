"""
What a person reads of a plan: units, bases, plurals, and who does better.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from adapters.cli.commands import plan
from adapters.cli.main import run
from adapters.cli.terminal import output
from adapters.cli.terminal.output import Table
from adapters.cli.views.plan_view import _runs
from tests.adapters.documents import GPU, scenario

DEMO = Path(__file__).parents[3] / "scenarios" / "demo" / "fragmented.yaml"


@pytest.fixture
def lines(tmp_path, capsys):
    """
    Plan what is given and give what the command prints, line by line.
    """

    def printed(*words, policy=None, **given) -> list[str]:
        path = tmp_path / "x.json"
        document = scenario(**given) | ({"policy": policy} if policy else {})
        path.write_text(json.dumps(document))
        assert 0 == run(["plan", str(path), *words])
        return capsys.readouterr().out.splitlines()

    return printed


def starting_with(lines: list[str], word: str) -> str:
    return next(line for line in lines if line.startswith(word))


def test_header_counts_gpus_and_gangs_with_their_base(lines):
    shown = lines(
        nodes=[{"name": "n", "allocatable": {GPU: 8}, "used": {GPU: 3}}],
        gangs=[
            {"name": "a", "min": 1, "requests": {GPU: 1}},
            {
                "name": "b",
                "min": 1,
                "requests": {GPU: 1},
                "running": [{"node": "n", "pods": 1}],
            },
        ],
    )

    assert "1 node, 4 of 8 GPUs free · 2 gangs, 1 waiting · seed 0" in shown[0]


def test_room_of_a_node_that_takes_no_pod_is_not_free(lines):
    shown = lines(
        nodes=[
            {"name": "m", "allocatable": {GPU: 8}, "unschedulable": True},
            {"name": "n", "allocatable": {GPU: 8}},
        ]
    )

    assert "2 nodes, 8 of 16 GPUs free" in shown[0]


def test_one_of_a_thing_is_not_many(lines):
    shown = lines(
        gangs=[
            {"name": "a", "min": 1, "requests": {GPU: 8}},
            {"name": "b", "min": 1, "requests": {GPU: 64}},
        ]
    )

    assert "1 gang starts: 1 pod, 8 of 8 free GPUs" in shown
    assert "1 gang waits" in shown
    assert not [line for line in shown if " 1 gangs" in line or " 1 pods" in line]


def test_starts_and_growth_are_counted_apart(lines):
    shown = lines(
        gangs=[
            {"name": "a", "min": 2, "requests": {GPU: 1}},
            {
                "name": "b",
                "min": 1,
                "replicas": 4,
                "requests": {GPU: 1},
                "running": [{"node": "n0", "pods": 1}],
            },
        ]
    )

    assert "1 gang starts, 1 grows: 5 pods, 5 of 7 free GPUs" in shown


def test_pods_of_a_gang_with_a_choice_do_not_read_as_missing(lines):
    shown = lines(
        gangs=[
            {
                "name": "choice",
                "minGroups": 1,
                "groups": [
                    {"name": "x", "min": 2, "requests": {GPU: 4}},
                    {"name": "y", "min": 1, "requests": {GPU: 16}},
                ],
            },
            {"name": "rigid", "min": 2},
        ]
    )

    assert "2 of 1–3" in starting_with(shown, "  default/choice")
    assert " of " not in starting_with(shown, "  default/rigid")


def test_a_gang_that_needs_no_pod_says_so_when_it_gets_none(lines):
    shown = lines(
        gangs=[
            {"name": "a", "min": 0, "replicas": 1, "requests": {GPU: 64}},
            {"name": "b", "min": 1, "requests": {GPU: 1}},
        ]
    )

    assert "needs no pod to start" in starting_with(shown, "  default/a ")


def test_a_gang_whose_minimum_counts_no_more_needs_no_pod(lines):
    done = {"matchPolicy": "once-satisfied", "onceSatisfied": True}
    shown = lines(gangs=[{"name": "a", "min": 2, "requests": {GPU: 64}, **done}])

    assert ["0", "pods"] == starting_with(shown, "  default/a ").split()[2:4]


def test_tiers_say_what_is_wanted_and_leave_out_what_is_nothing(lines):
    shown = lines()
    table = [line for line in shown if line[:1].isdigit() and "proven" in line]

    assert ["1 entitled", "6 packing", "7 order"] == [row[:10].strip() for row in table]
    assert "most value" in table[0]
    assert "least holes broken, GPU²" in table[1]
    assert (
        "  value and bound are 0 in: 2 disruption; 3 borrowing; 4 topology; 5 surplus"
        in (shown)
    )


def test_wide_shows_every_tier_and_integers(lines):
    shown = lines("-o", "wide")

    assert starting_with(shown, "2 disruption")
    assert "2,000,000,000" in starting_with(shown, "1 entitled")
    assert "one cluster is 4,000,000,000 in entitled" in starting_with(shown, "  value")


def test_bands_are_named_where_there_are_several(lines):
    gangs = [
        {"name": name, "min": 1, "priority": priority, "requests": {GPU: 1}}
        for name, priority in (("a", 5), ("b", 0))
    ]
    shown = lines(gangs=gangs)

    assert starting_with(shown, "1 entitled, priority ≥ 5 ")
    assert starting_with(shown, "2 entitled, priority ≥ 0 ")
    assert any("4–5 borrowing" in line for line in shown)


def test_a_cluster_without_anything_to_do_has_no_table(lines):
    shown = lines(gangs=[])

    assert "  no tier has anything to reach or to lose" in shown
    assert "No gang starts or grows." in shown
    assert not [line for line in shown if line.startswith("TIER")]


def test_greedy_alone_has_one_column_and_nothing_to_compare(lines):
    shown = lines("--strategy", "greedy", "--diff", "greedy")

    assert 1 == starting_with(shown, "TIER").count("GREEDY")
    assert "This is greedy's own plan: there is nothing to compare." in shown
    assert "bounds by arithmetic" in shown[-1]


def test_bounds_above_one_cluster_are_explained(lines):
    nodes = [{"name": "n", "allocatable": {"cpu": 8}}]
    gangs = [{"name": "a", "count": 3, "min": 1, "requests": {"cpu": 5}}]
    shown = lines("--seconds", "0", nodes=nodes, gangs=gangs)

    assert " 187.5 % " in starting_with(shown, "1 entitled")
    assert starting_with(shown, "  above 100 %:")
    assert "no time to search" in shown[-1]


def test_gpus_that_are_added_up_prove_what_starts_in_no_time_at_all(lines):
    gangs = [{"name": "a", "count": 3, "min": 1, "requests": {GPU: 5}}]
    shown = lines("--seconds", "0", gangs=gangs)

    assert " 62.5 %   proven" in starting_with(shown, "1 entitled")


def test_difference_states_gangs_pods_and_gpus_of_both(capsys):
    assert 0 == run(["plan", str(DEMO), "--diff", "greedy"])
    shown = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in shown[shown.index("") :]]

    assert ["gangs", "that", "start", "4", "6", "8", "waiting"] in rows
    assert ["pods", "bound", "6", "11"] in rows
    assert ["GPUs", "bound", "24", "58", "58", "free"] in rows
    assert "  only solver starts diffusion-xl, llama-pretrain, rl-bench" in shown
    assert "  only greedy starts vision-sweep" in shown
    assert (
        "  solver is better in tier 1 entitled: 71.5 %, not 29.9 %; "
        "no plan does better there"
    ) in shown


def test_difference_says_when_there_is_none(lines):
    assert "  equal in every tier; no plan is better" in lines("--diff", "greedy")


def test_a_narrow_screen_has_the_last_cell_below_its_row(lines, monkeypatch):
    monkeypatch.setattr(plan, "screen_width", lambda: 60)
    shown = lines(gangs=[{"name": "a", "min": 1, "requests": {GPU: 64}}])
    at = shown.index(starting_with(shown, "  default/a"))

    assert shown[at].endswith("NoFittingNode")
    assert shown[at + 1].startswith("    pod default/a-0 fits no node")
    assert max(map(len, shown[1:])) <= 60


def test_a_pipe_has_no_width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")

    assert output.screen_width() is None


def test_a_terminal_has_the_width_it_says(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    assert 40 == output.screen_width()


def test_a_table_that_fits_is_not_folded():
    table = Table(("A", "B"), [("1", "2")])

    assert table.lines() == table.folded(4)
    assert ["A", "1", "  2"] == table.folded(3)


@pytest.mark.parametrize(
    ("minimum", "running", "shown"),
    [(4, 4, "4"), (4, 3, "3 of 4"), (1, 2, "2 of 1–4")],
)
def test_how_many_run_is_said_of_how_many(minimum, running, shown):
    pods = {"total": 4, "minimum": minimum, "running": running, "binding": 0}
    line = SimpleNamespace(pods=SimpleNamespace(**pods))

    assert shown == _runs(line)
