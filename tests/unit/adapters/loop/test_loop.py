import threading
from dataclasses import dataclass, field, replace

import pytest

from adapters.files import read_plan, read_scenario
from adapters.files.snapshot_writer import snapshot_document
from adapters.loop.interfaces import Turn
from adapters.loop.loop import Loop
from adapters.loop.memory.gangs import Memory
from adapters.loop.parts import Parts, Pulse
from models.errors import PhalanxError, PlanRejectedError
from models.policy import Policy
from models.reasons import Reason, Waiting
from models.receipt import Receipt
from solver.fallback import NOBODY_LEAVES, decide_or_fall_back
from solver.round import decide
from solver.search.greedy_steps import plan_greedily
from solver.search.round_steps import search
from solver.strategies import STRATEGIES
from solver.verify import verify
from tests.helpers.build import gang, nodes, snapshot


class Source:
    """
    Shows what the test wants, and counts how often it is looked at.
    """

    def __init__(self, shown) -> None:
        self.shown = shown
        self.looks = 0
        self.revision = 1
        self.changed = threading.Event()
        self.error: PhalanxError | None = None

    def snapshot(self):
        self.looks += 1
        if self.error is not None:
            raise self.error
        return self.shown

    def change(self, shown=None) -> None:
        self.shown = shown or self.shown
        self.revision += 1
        self.changed.set()


class Sink:
    """
    Carries plans out when the test lets it.
    """

    def __init__(self) -> None:
        self.opened = 0
        self.remembered = 0
        self.deaf = False
        self.held: list[Turn] = []
        self.owed: list[Turn] = []
        self.go = threading.Event()
        self.go.set()
        self.result = "done"
        self.error: Exception | None = None

    def open(self, now: float) -> None:
        self.opened += 1

    def hold(self, turn: Turn) -> None:
        self.held.append(turn)

    def due(self) -> Turn | None:
        return self.owed.pop() if self.owed else None

    def remember(self) -> None:
        if self.deaf:
            raise PhalanxError("nobody listens")
        self.remembered += 1

    def execute(self, plan):
        self.go.wait(10)
        if self.error is not None:
            raise self.error
        return [Receipt(operation=o, result=self.result) for o in plan.operations]


@dataclass
class Leads:
    held: bool = True

    def is_held(self) -> bool:
        return self.held


@dataclass
class Told:
    """
    Writes down what the loop says.
    """

    said: list[str] = field(default_factory=list)
    given: dict[str, object] = field(default_factory=dict)

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)

        def note(*given, **named) -> None:
            self.said.append(name)
            self.given[name] = (*given, *named.values())

        return note

    @property
    def news(self) -> list[str]:
        return [word for word in self.said if word not in {"ticked", "skipped"}]


class Clock:
    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Play:
    """
    A loop whose thread is the test's.
    """

    def __init__(self, shown, folder, planner=decide) -> None:
        self.source, self.sink, self.told = Source(shown), Sink(), Told()
        self.leads, self.time = Leads(), Clock(1_000_000.0)
        self.parts = Parts(
            source=self.source,
            planner=planner,
            sink=self.sink,
            memory=Memory(),
            reporter=self.told,
            leadership=self.leads,
            policy=Policy(),
            pulse=Pulse(settle=0.0),
            folder=folder,
            clock=Clock(0.0),
            now=self.time,
        )
        self.loop = Loop(self.parts)

    def step(self) -> None:
        self.loop.step()

    def finish(self) -> None:
        """
        Let the plan that is being carried out end.
        """
        self.sink.go.set()
        assert self.loop._running.join(10)


WAITS = snapshot(nodes(1), [gang("g", minimum=2)])
RUNS = snapshot(nodes(1), [gang("g", minimum=2, running=["n0", "n0"])])


@pytest.fixture
def play(tmp_path):
    return Play(WAITS, tmp_path)


def break_off(play, error):
    """
    Let carrying a plan out end in an error, and hear of it.
    """
    play.sink.error = error
    play.step()
    play.finish()
    with pytest.raises(type(error), match=str(error)):
        play.step()


def test_what_can_start_is_carried_out(play):
    play.step()
    play.finish()
    play.step()

    assert ["leading", "planned", "carried_out", "planned"] == play.told.news[:4]
    (turn,) = play.told.given["carried_out"]
    assert ["done", "done"] == [receipt.result for receipt in turn.receipts]
    assert {"snapshot", "plan", "execute"} == set(turn.seconds)


def test_who_does_not_lead_looks_at_nothing(play):
    play.leads.held = False
    play.step()

    assert ["ticked"] == play.told.said
    assert 0 == play.source.looks


def test_the_next_round_is_planned_while_binds_are_under_way(play):
    play.sink.go.clear()
    play.step()
    play.source.change(snapshot(nodes(2), [gang("h", minimum=1)]))
    play.step()

    assert ["planned", "planned"] == play.told.news[1:]
    assert 1 == len(play.sink.held)  # it waits for the one before it
    play.step()
    assert 2 == play.source.looks  # and one plan waits at most
    play.finish()
    play.step()
    assert 2 == len(play.sink.held)


def test_while_binds_are_under_way_and_nothing_has_changed_nothing_is_planned(play):
    play.sink.go.clear()
    play.step()
    play.step()
    waited = play.source.looks
    play.parts.clock.now += play.parts.pulse.interval
    play.step()
    after_an_interval = play.source.looks
    play.finish()
    play.step()

    assert (1, 2) == (waited, after_an_interval)
    assert "carried_out" in play.told.news


def test_what_binds_left_over_is_decided_once_they_are_over(play):
    play.step()
    play.finish()
    play.step()

    assert 2 == play.source.looks


def test_a_plan_is_dropped_when_the_one_before_it_went_wrong(play):
    play.sink.go.clear()
    play.sink.result = "refused"
    play.step()
    play.source.change(snapshot(nodes(2), [gang("h", minimum=1)]))
    play.step()
    play.finish()
    play.step()

    assert "dropped" in play.told.news
    assert 3 == play.source.looks  # it is planned anew at once


def test_what_did_not_go_as_planned_is_remembered_at_once(play):
    play.sink.result = "again"
    play.step()
    play.finish()
    before = play.sink.remembered
    play.step()

    assert (0, 1) == (before, play.sink.remembered)


def test_what_could_not_be_remembered_is_tried_again_later_and_rounds_go_on(play):
    play.sink.result = "again"
    play.step()
    play.finish()
    play.sink.deaf = True
    looks = play.source.looks
    for _ in range(5):
        play.source.change()
        play.step()
    failed = play.told.said.count("failed")
    play.sink.deaf = False
    play.parts.clock.now += 60.0
    play.step()

    assert (1, 1) == (failed, play.sink.remembered)
    assert play.source.looks > looks


def test_what_broke_while_it_was_carried_out_leaves_its_intent_as_it_is(play):
    break_off(play, ValueError("broken"))
    play.sink.error = None
    play.step()

    assert 0 == play.sink.remembered


def test_a_quiet_cluster_is_not_looked_at_again(play):
    play.source.shown = RUNS
    play.step()
    for _ in range(5):
        play.step()

    assert 1 == play.source.looks
    assert 5 == play.told.said.count("skipped")


def test_a_change_ends_the_quiet(play):
    play.source.shown = RUNS
    play.step()
    play.source.change()
    play.step()

    assert 2 == play.source.looks


class Restless(Source):
    """
    Changes between the first looks at its revision.
    """

    changes = 5

    @property
    def revision(self) -> int:
        self.changes = max(0, self.changes - 1)
        return -self.changes

    @revision.setter
    def revision(self, number: int) -> None:
        self.first = number


@pytest.mark.parametrize(("spent", "left"), [(0.5, 0), (0.0, 4)])
def test_changes_that_follow_each_other_are_waited_for_as_long_as_a_round_takes(
    tmp_path, spent, left
):
    play = Play(WAITS, tmp_path)
    source = Restless(WAITS)
    loop = Loop(replace(play.parts, source=source, pulse=Pulse(settle=0.001)))
    loop._spent = spent
    loop._wait(0.0)

    assert left == source.changes


def test_the_next_moment_of_a_rule_ends_the_quiet(play):
    full = [gang("g", minimum=1, running=["n0"], gpus=8), gang("h", minimum=1)]
    play.source.shown = snapshot(nodes(1), full)
    play.step()
    play.time.now += 599
    play.step()
    early = play.source.looks
    play.time.now += 1  # a gang of ten minutes counts more
    play.step()

    assert (1, 2) == (early, play.source.looks)


def test_a_change_during_a_round_is_not_lost(play):
    play.source.shown = RUNS
    look = play.source.snapshot

    def changes():
        play.source.revision += 1
        return look()

    play.source.snapshot = changes
    play.step()
    play.source.snapshot = look
    play.step()

    assert 2 == play.source.looks


def test_without_a_snapshot_nothing_is_planned(play):
    play.source.error = PhalanxError("pods were not read yet")
    play.step()
    play.source.error = None
    play.step()

    assert ["refused", "planned"] == play.told.news[1:3]


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


def test_an_unexpected_error_of_a_round_is_told_and_the_loop_goes_on(
    tmp_path, monkeypatch
):
    def breaks(given, policy):
        if not play.told.said.count("failed"):
            raise ZeroDivisionError("a bug")
        play.loop.stop()
        return decide(given, policy)

    play = Play(WAITS, tmp_path, breaks)
    monkeypatch.setattr(Loop, "_wait", lambda _loop, _pause: None)
    play.loop.run()

    (error,) = play.told.given["failed"]
    (kept,) = tmp_path.iterdir()
    assert isinstance(error, ZeroDivisionError)
    assert [f"kept in {kept}"] == error.__notes__
    assert "ZeroDivisionError: a bug" in kept.read_text()
    assert snapshot_document(WAITS) == snapshot_document(
        read_scenario(str(kept)).snapshot
    )
    assert "carried_out" in play.told.news


def rests_after(play, monkeypatch, errors: int) -> list[float]:
    """
    Run a loop until it has broken so often; give how long it rested each time.
    """
    rests = []

    def wait(loop, _pause):
        rests.append(loop._rest)
        loop._rest = 0.0
        if len(rests) == errors:
            loop.stop()

    monkeypatch.setattr(Loop, "_wait", wait)
    play.loop.run()
    return rests


def test_who_breaks_again_and_again_rests_longer_each_time(play, monkeypatch):
    play.source.error = ZeroDivisionError("a bug")

    assert [5.0, 10.0, 20.0, 40.0, 60.0, 60.0] == rests_after(play, monkeypatch, 6)
    assert [] == play.sink.held


def test_a_change_does_not_end_the_rest_of_who_broke(play):
    play.loop._broke(ZeroDivisionError("a bug"))
    rested = []
    play.loop._stopped.wait = rested.append
    play.source.change()
    play.loop._wait(0.0)

    assert 5.0 == rested[0]


def test_a_server_that_is_away_is_tried_again_soon_and_nothing_is_kept(
    play, tmp_path, monkeypatch
):
    def away(now):
        raise PhalanxError("nobody is there")

    monkeypatch.setattr(play.sink, "open", away)

    assert [0.0, 0.0, 0.0] == rests_after(play, monkeypatch, 3)
    assert 3 == play.told.said.count("failed")
    assert [] == list(tmp_path.iterdir())


def test_of_a_round_that_breaks_before_it_sees_anything_the_place_is_kept(
    play, tmp_path, monkeypatch
):
    play.source.error = ZeroDivisionError("a bug")
    rests_after(play, monkeypatch, 1)
    (kept,) = tmp_path.iterdir()

    assert ".txt" == kept.suffix
    assert "in snapshot" in kept.read_text()
    assert "ZeroDivisionError: a bug" in kept.read_text()


def test_what_breaks_while_it_is_carried_out_is_kept_with_what_was_seen(
    play, tmp_path, monkeypatch
):
    play.sink.error = ZeroDivisionError("a bug")
    play.step()
    play.finish()
    rests_after(play, monkeypatch, 1)
    (kept,) = tmp_path.iterdir()

    assert snapshot_document(WAITS) == snapshot_document(
        read_scenario(str(kept)).snapshot
    )


def test_a_bundle_that_cannot_be_written_stops_no_round(play, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    play.loop.parts = replace(play.parts, folder=tmp_path / "file")
    play.source.error = ZeroDivisionError("a bug")

    assert [5.0, 10.0] == rests_after(play, monkeypatch, 2)


def test_an_error_of_the_sink_is_told(play):
    break_off(play, OSError("no network"))

    turn, _why = play.told.given["dropped"]
    assert turn is play.sink.held[0]  # nobody waits for its end any more


def test_a_reporter_that_breaks_stops_no_round(play):
    class Breaks(Told):
        def planned(self, turn) -> None:
            raise ZeroDivisionError

    play.loop.parts = Parts(
        **{
            name: getattr(play.parts, name)
            for name in Parts.__dataclass_fields__
            if name != "reporter"
        },
        reporter=(told := Breaks()),
    )
    play.step()

    assert 1 == len(play.sink.held)
    assert isinstance(told.given["failed"][0], ZeroDivisionError)


def test_leading_begins_with_what_the_last_leader_left(play):
    play.leads.held = False
    play.step()
    before = play.sink.opened
    play.leads.held = True
    play.step()

    assert (0, 1) == (before, play.sink.opened)
    assert ["leading", "planned"] == play.told.news


def test_a_plan_of_who_leads_no_longer_is_dropped(play):
    play.sink.go.clear()
    play.step()
    play.source.change(snapshot(nodes(2), [gang("h", minimum=1)]))
    play.step()
    play.leads.held = False
    play.step()
    play.finish()
    play.step()

    assert 1 == len(play.sink.held)
    assert ["dropped", "leading"] == sorted(
        set(play.told.news) & {"dropped", "leading"}
    )
    play.leads.held = True
    play.step()
    assert 2 == play.sink.opened


def test_binds_of_an_earlier_term_end_before_a_new_one_begins(play):
    play.sink.go.clear()
    play.step()
    play.leads.held = False
    play.step()
    play.leads.held = True
    play.step()
    before = play.sink.opened
    play.finish()
    play.step()

    assert (1, 2) == (before, play.sink.opened)


def test_stopping_waits_for_what_is_begun_and_keeps_what_is_remembered(play):
    play.sink.go.clear()
    play.step()
    threading.Timer(0.1, play.sink.go.set).start()
    play.loop.stop()
    play.loop.run()

    assert "carried_out" in play.told.news
    assert 1 == play.sink.remembered
    assert play.loop.is_stopping


def test_who_stops_without_leading_writes_nothing(play):
    play.leads.held = False
    play.step()
    play.loop.stop()
    play.loop.run()

    assert 0 == play.sink.remembered


def test_keeping_promises_only_is_nothing_to_do(tmp_path):
    full = gang("v", minimum=1, terminating=["n0"], gpus=8)
    waits = gang("g", minimum=1, gpus=8, reserved=["n0"])
    play = Play(snapshot(nodes(1), [full, waits]), tmp_path)
    play.step()
    play.finish()
    play.step()
    play.step()

    assert 1 == len(play.sink.held)
    assert 2 == play.source.looks


# --- the first minutes of all -------------------------------------------------


def test_in_the_first_minutes_of_all_nobody_leaves(play):
    asked = []

    def planner(given, policy):
        asked.append(policy.evict)
        return decide(given, policy)

    memory = Memory(evict_after=600)
    memory.first_led = play.time.now
    play.loop.parts = replace(play.parts, planner=planner, memory=memory)
    play.step()
    play.finish()
    play.step()
    play.time.now += 599
    play.source.change()
    play.step()
    play.time.now += 1  # nothing has changed, but the time is over
    play.step()

    assert [NOBODY_LEAVES] * (len(asked) - 1) == asked[:-1]
    assert play.parts.policy.evict == asked[-1]
    assert len(asked) >= 3


def test_while_it_is_paused_a_round_is_told_and_nothing_is_begun(play):
    why = Waiting(Reason.PAUSED, {"by": "alice"})
    pauses = [why]
    play.loop.parts = replace(play.parts, pause=lambda: pauses[0])
    play.step()
    (line,) = play.told.given["planned"][0].plan.gangs
    play.step()

    assert ("Waiting", why, 0) == (line.state, line.waiting, line.pods.binding)
    assert not play.sink.held
    assert play.told.said.count("planned") == 1

    pauses[0] = None
    play.step()
    assert ["g"] == [gang.name for gang in play.sink.held[0].snapshot.gangs]


def test_a_pause_drops_the_plan_that_waits(play):
    play.sink.go.clear()
    play.step()
    play.source.change(snapshot(nodes(2), [gang("g", minimum=2), gang("h", minimum=1)]))
    play.step()
    assert play.loop._next is not None
    play.loop.parts = replace(play.parts, pause=lambda: Waiting(Reason.PAUSED))
    play.finish()
    play.step()

    assert "dropped" in play.told.said
    assert 1 == len(play.sink.held)


def test_who_only_observes_tells_its_plans_as_they_are_and_begins_nothing(play):
    play.loop.parts = replace(play.parts, acts=False)
    play.step()
    (line,) = play.told.given["planned"][0].plan.gangs

    assert "Starting" == line.state
    assert not play.sink.held
