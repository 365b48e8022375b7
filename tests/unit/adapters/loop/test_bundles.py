"""
What is kept of rounds whose plans broke a rule.
"""

from dataclasses import replace

import pytest

from adapters.files import read_plan, read_scenario
from adapters.files.writing.snapshot_writer import snapshot_document
from models.errors import PlanRejectedError
from solver.fallback import decide_or_fall_back
from solver.search.greedy_steps import plan_greedily
from solver.search.round_steps import search
from solver.strategies import STRATEGIES
from solver.verify import verify
from tests.unit.adapters.loop.playing import WAITS, Play


def test_a_plan_that_breaks_a_rule_is_kept_as_a_bundle_and_binds_nothing(tmp_path):
    def wrong(given, policy):
        raise PlanRejectedError(["node-capacity: node n0 holds 8, and gets 9"])

    play = Play(WAITS, tmp_path / "new" / "folder", wrong)
    play.step()
    play.step()

    assert [] == play.sink.held
    assert 1 == play.source.looks  # the same input would break it again
    given, error, path = play.told.given["rejected"]
    assert 1 == len(error.violations)
    bundle = read_scenario(str(path))
    assert snapshot_document(given) == snapshot_document(bundle.snapshot)
    assert play.parts.policy == bundle.policy
    assert "node-capacity" in path.read_text()


def breaking(where):
    """
    Make strategies that are wrong where somebody may leave: one raises, one breaks.
    """

    def raising(problem, budget):
        if problem.policy.evict.reclaim:
            raise KeyError("a cordoned node")
        return search(problem, budget)

    def wrong(problem, budget):
        outcome = search(problem, budget)
        if not problem.policy.evict.reclaim:
            return outcome
        tiers = (replace(tier, bound=tier.value - 1) for tier in outcome.tiers)
        return replace(outcome, tiers=tuple(tiers))

    return {"raising": raising, "wrong": wrong}[where]


@pytest.mark.parametrize("kind", ["wrong", "raising"])
def test_a_round_that_is_planned_again_binds_and_is_told_and_kept(
    tmp_path, monkeypatch, kind
):
    monkeypatch.setitem(STRATEGIES, "solver", breaking(kind))
    play = Play(WAITS, tmp_path, decide_or_fall_back)
    play.step()

    assert ["fell_back", "planned"] == play.told.news[1:3]
    turn, path = play.told.given["fell_back"]
    assert "without-evictions" == turn.plan.fallback.way
    assert f"{turn.name}.yaml" == path.name
    assert snapshot_document(WAITS) == snapshot_document(
        read_scenario(str(path)).snapshot
    )
    (turn,) = play.sink.held
    assert ["Bind", "Bind"] == [step.op for step in turn.plan.operations]
    suffix = {"wrong": "json", "raising": "txt"}[kind]
    beside = path.with_suffix(f".as-asked.{suffix}")
    assert {path, beside} == set(tmp_path.iterdir())
    if kind == "wrong":
        assert "tier-bound" in path.read_text()
        assert verify(WAITS, play.parts.policy, read_plan(str(beside)))
    else:
        assert "a cordoned node" in path.read_text()
        assert ", in raising\n" in beside.read_text()


def test_what_lies_beside_old_bundles_goes_with_them(tmp_path, monkeypatch):
    monkeypatch.setitem(STRATEGIES, "solver", breaking("wrong"))
    play = Play(WAITS, tmp_path, decide_or_fall_back)
    for _ in range(12):
        play.source.change()
        play.time.now += 1
        play.step()
        play.finish()

    assert 10 == len(list(tmp_path.glob("*.yaml")))
    assert 10 == len(list(tmp_path.glob("*.json")))


def test_of_a_round_that_no_way_could_plan_every_rejected_plan_is_kept(
    tmp_path, monkeypatch
):
    def wrong(problem, budget):
        outcome = plan_greedily(problem, budget)
        tiers = (replace(tier, bound=tier.value - 1) for tier in outcome.tiers)
        return replace(outcome, tiers=tuple(tiers))

    for name in ("solver", "greedy"):
        monkeypatch.setitem(STRATEGIES, name, wrong)
    play = Play(WAITS, tmp_path, decide_or_fall_back)
    play.step()

    assert [] == play.sink.held
    assert ["rejected"] == play.told.news[1:]
    kept = {path.name.partition(".")[2] for path in tmp_path.iterdir()}
    ways = {"as-asked", "without-evictions", "greedy"}
    assert {"yaml", *(f"{way}.json" for way in ways)} == kept


def test_a_bundle_is_what_phalanx_plan_reads(tmp_path, capsys):
    from adapters.cli.main import run

    def wrong(given, policy):
        raise PlanRejectedError(["gang-minimum: g"])

    play = Play(WAITS, tmp_path, wrong)
    play.step()
    _, _, path = play.told.given["rejected"]

    assert 0 == run(["plan", str(path), "-o", "json"])
    assert '"default/g-1"' in capsys.readouterr().out


def test_bundles_do_not_fill_the_disk(tmp_path):
    def wrong(given, policy):
        raise PlanRejectedError(["gang-minimum: g"])

    play = Play(WAITS, tmp_path, wrong)
    for _ in range(15):
        play.source.change()
        play.time.now += 1
        play.step()

    assert 10 == len(list(tmp_path.iterdir()))
