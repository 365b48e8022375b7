"""
The numbers of the search: each is explained, and the bench can try another.
"""

import pytest

from adapters.cli.main import run
from benchmarks.contract import contract_names
from benchmarks.planned import decide, trying
from benchmarks.rows import BenchReport
from benchmarks.tuning import TuningError, described, tuned, tuning_of
from models.policy import Policy
from solver.problem.problem import problem_of
from solver.search.round_steps import search
from solver.strategies import STRATEGIES
from solver.tuning import DEFAULT, Encode, Tuning
from tests.helpers.build import gang, nodes, snapshot

KNOWN = list(described())
ROWS = frozenset(contract_names())


@pytest.mark.parametrize(("name", "_value", "said"), KNOWN, ids=[k[0] for k in KNOWN])
def test_every_number_has_a_unit_a_reason_and_a_row_that_exists(name, _value, said):
    assert said["unit"]
    assert said["why"]
    assert said["row"] in ROWS


def test_a_number_is_changed_by_its_name():
    found = tuning_of(["encode.most_domains=0", "search.first_pass=[0.5, 0.3, 0.1]"])

    assert 0 == found.encode.most_domains
    assert (0.5, 0.3, 0.1) == found.search.first_pass
    assert DEFAULT.encode.most_classes == found.encode.most_classes


def test_a_whole_number_will_do_for_a_part():
    assert 1.0 == tuned(DEFAULT, "search.fine", 1).search.fine


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("search.fines=1", "no number is called 'search.fines'"),
        ("search.fine", "is not NAME=VALUE"),
        ("search.fine=much", "is not NAME=VALUE"),
        ("search.most_deals=1.5", "search.most_deals is 4, and cannot be 1.5"),
        ("search.most_deals=true", "cannot be True"),
        ("search.first_pass=[1]", "cannot be"),
    ],
)
def test_what_is_no_number_is_refused(word, said):
    with pytest.raises(TuningError, match=said):
        tuning_of([word])


def test_a_problem_has_the_usual_numbers_unless_told_otherwise():
    given = snapshot(nodes(1), [gang("a", minimum=1)])
    other = Tuning(encode=Encode(most_classes=1))

    assert DEFAULT is problem_of(given, Policy()).tuning
    assert other is problem_of(given, Policy(), other).tuning


def test_the_bench_plans_with_the_numbers_that_are_tried(monkeypatch):
    given = snapshot(nodes(1), [gang("a", minimum=1)])
    other = tuning_of(["search.fine=0.2"])
    seen = []

    def watched(problem, budget):
        seen.append(problem.tuning)
        return search(problem, budget)

    monkeypatch.setitem(STRATEGIES, "solver", watched)
    decide(given, Policy())
    with trying(other):
        decide(given, Policy())
    decide(given, Policy())

    assert [DEFAULT, other, DEFAULT] == seen


def test_the_command_tries_a_number_and_refuses_what_is_none(capsys, monkeypatch):
    tried = []

    def measured(names, *, progress, tuning, seeds):
        tried.append((names, tuning))
        return BenchReport(measured=())

    monkeypatch.setattr("benchmarks.run", measured)

    assert 0 == run(["bench", "rounds/1k", "--tuning", "search.fine=0.2"])
    assert [(["rounds/1k"], tuning_of(["search.fine=0.2"]))] == tried
    assert 2 == run(["bench", "rounds/1k", "--tuning", "search.fines=0.2"])
    assert "no number is called" in capsys.readouterr().err
