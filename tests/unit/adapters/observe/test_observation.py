"""
What an observation keeps, and what its page says of it.
"""

import json
from dataclasses import replace

import pytest

from adapters.cli.main import run
from adapters.loop.interfaces import Turn
from adapters.observe.observation import BEAT, KIND, Observer, observed_in
from adapters.observe.round_file import RoundFile, read_rounds
from adapters.reports.observation.observation_page import document_of, observation_page
from adapters.reports.observation.story import folded
from adapters.reports.page.markdown import as_markdown
from models.policy import Policy
from solver.round import decide
from tests.helpers.build import gang, nodes, snapshot

START = 1_800_000_000.0


class Watch:
    """
    An observer that is shown clusters, and the record that it keeps.
    """

    def __init__(self, folder) -> None:
        self.path = observed_in(str(folder), "observe")
        self.folder = folder
        self.says = "0/1 nodes are available"
        self.now = START
        self.observer = Observer(
            RoundFile(self.path),
            ["other"],
            lambda _: self.says,
            Policy(),
            now=lambda: self.now,
        )

    def see(self, seconds, *gangs, size=1):
        shown = snapshot(nodes(size), list(gangs))
        plan = decide(shown, Policy())
        turn = Turn(shown, plan, (), f"r{seconds}", START + seconds, {"plan": 0.1})
        self.observer.planned(turn)

    def records(self):
        return list(read_rounds(self.path, KIND)) if self.path.exists() else []

    def story(self):
        return folded(self.records())

    def gang(self, name):
        return next(g for g in self.story().gangs if g.name == f"default/{name}")


@pytest.fixture
def watch(tmp_path):
    return Watch(tmp_path)


def waits(name="g", **more):
    return gang(name, minimum=2, gpus=4, **more)


def runs(name="g", **more):
    return waits(name, running=["n0", "n0"], **more)


def test_only_what_changed_is_written_and_every_ten_minutes_that_we_still_look(watch):
    watch.see(0, waits())
    watch.see(5, waits())
    watch.see(6, runs())
    watch.see(7, runs())
    assert ["r0", "r5", "r6"] == [record["name"] for record in watch.records()]
    watch.see(6 + BEAT, runs())

    assert 2 == watch.records()[-1]["rounds"]
    assert [] == watch.records()[-1]["gangs"]


def test_the_hours_between_a_plan_and_a_bind_are_counted_with_its_gpus(watch):
    watch.see(0, waits(age=100))
    watch.see(1800, waits(age=1900))
    watch.see(3600, runs(age=3700))
    found = watch.gang("g")
    document = document_of(watch.story())

    assert (START, START + 3600) == (found.would, found.whole)
    assert START - 100 == found.came
    assert found.would_proven
    assert "0/1 nodes are available" == found.said
    assert 8.0 == document["gpuHoursEarlier"]
    assert 3600.0 == document["gangs"][0]["earlierSeconds"]


def test_gpus_are_those_of_all_pods_though_not_all_were_there_at_first(watch):
    watch.see(0, gang("g", minimum=2, gpus=4, replicas=1))
    watch.see(1, waits())
    watch.see(3601, runs())
    watch.see(3700, gang("g", minimum=1, gpus=4, running=["n0"]))
    (found,) = document_of(watch.story())["gangs"]

    assert 8 == found["gpus"]
    assert 8.0 == document_of(watch.story())["gpuHoursEarlier"]


def test_what_is_seen_at_the_same_moment_is_no_difference(watch):
    watch.see(0, waits())
    watch.see(1, runs())

    assert 0 == watch.story().gpu_hours_earlier()


def test_a_gang_that_waits_to_the_end_counts_at_least_so_long(watch):
    watch.see(0, waits())
    watch.see(100, waits(), waits("h"), size=2)

    assert 100 == watch.gang("g").earlier(START + 100)
    assert "≥ 1m40s" in as_markdown(observation_page(watch.story())).replace("\xa0", "")


@pytest.mark.parametrize("how", ["told to end", "leads no more"])
def test_a_quiet_cluster_is_observed_until_the_end(watch, how):
    watch.see(0, waits())
    watch.now = START + 300
    for _ in range(2):
        if how == "told to end":
            watch.observer.ended()
        else:
            watch.observer.leading(is_leader=False)

    assert 2 == len(watch.records())
    assert 300 == watch.gang("g").earlier(START + 300)
    assert "≥ 5m" in as_markdown(observation_page(watch.story())).replace("\xa0", "")


def test_who_never_looked_writes_no_end(watch):
    watch.observer.leading(is_leader=False)
    watch.observer.ended()

    assert [] == watch.records()


def test_who_starts_though_no_plan_would_have_is_named_with_the_reason(watch):
    first, second = waits(priority=10), waits("late")
    watch.see(0, first, second)
    watch.see(10, first, runs("late"))
    late = watch.gang("late")
    page = as_markdown(observation_page(watch.story()))

    assert (None, "LowerTierOrPriority") == (late.would, late.reason)
    assert "default/g" in late.to
    assert "started that no plan would have" in page


def test_who_got_its_room_is_forgotten_with_the_reason(watch):
    first, second = waits(priority=10), waits("late")
    watch.see(0, first, second)
    watch.see(10, runs(priority=10), second)
    late = watch.gang("late")

    assert ("InsufficientCapacity", "") == (late.reason, late.to)


def test_a_gang_in_part_is_counted_until_it_is_whole(watch):
    watch.see(0, waits(), size=2)
    watch.see(10, waits(running=["n0"]), size=2)
    watch.see(40, runs(), size=2)

    assert 30 == watch.gang("g").half


def test_who_is_gone_without_an_end_is_counted_and_who_has_ended_is_not(watch):
    watch.see(0, runs(), runs("h"), size=2)
    watch.see(10, waits(), waits("h", succeeded=2), size=2)

    assert {"default/g": 2} == dict(watch.story().left)


def test_an_eviction_of_a_plan_is_counted_once_however_often_it_is_asked(watch):
    low = runs("low", priority=0)
    high = gang("high", minimum=2, gpus=4, priority=100)
    for second in (0, 10, 20):
        watch.see(second, low, high)
    story = watch.story()

    assert [("default/low", 2)] == [(e["gang"], e["pods"]) for e in story.evicts]
    assert watch.gang("high").would is None
    assert START == watch.gang("high").after


def test_a_gang_of_an_old_name_is_another_one(watch):
    watch.see(0, waits())
    watch.see(10)
    watch.see(20, waits())
    first, second = watch.story().gangs

    assert (START + 10, None) == (first.gone, second.gone)


def of_uids(one, word):
    pods = tuple(replace(pod, uid=f"{word}-{pod.name}") for pod in one.tree.pods)
    return replace(one, tree=replace(one.tree, pods=pods))


@pytest.mark.parametrize("size", [64_000, 1], ids=["one file", "a file for each"])
def test_a_gang_made_again_under_its_name_between_two_rounds_is_another(watch, size):
    file = RoundFile(watch.path, size=size, files=9)
    watch.observer = Observer(file, ["other"], lambda _: watch.says, Policy())
    watch.see(0, of_uids(waits(age=100), "old"))
    watch.see(50, of_uids(runs(age=150), "old"))
    watch.see(60, of_uids(waits(age=4), "new"))
    watch.see(90, of_uids(runs(age=34), "new"))
    first, second = watch.story().gangs

    assert (START - 100, START + 50) == (first.came, first.whole)
    assert (START + 56, START + 60, START + 90) == (
        second.came,
        second.would,
        second.whole,
    )
    assert {"default/g": 2} == dict(watch.story().left)


@pytest.mark.parametrize(
    ("age", "word"), [(160, "new"), (4, "old")], ids=["new pods", "new object"]
)
def test_a_gang_of_the_same_birth_or_of_the_same_pods_goes_on(watch, age, word):
    watch.see(0, of_uids(waits(age=100), "old"))
    watch.see(60, of_uids(waits(age=age), word))
    (only,) = watch.story().gangs

    assert (START - 100, None) == (only.came, only.gone)


def test_nothing_to_compare_is_said(watch):
    watch.see(0, runs())

    assert "nothing to compare" in observation_page(watch.story()).verdict
    assert folded([]) is None


def test_the_document_is_plain_json(watch):
    watch.see(0, waits())

    assert json.loads(json.dumps(document_of(watch.story())))["kind"] == (
        "ObservationReport"
    )


def test_who_was_left_out_is_told_what_phalanx_why_says(watch):
    stays = gang("stays", minimum=1, gpus=4, running=["n0"])
    watch.see(0, waits(), stays)
    watch.see(60, runs(), stays)
    watch.see(90, waits("late"), stays)
    watch.now = START + 120
    watch.observer.ended()
    sentence = "room: needs 8 GPUs; 4 of 8 are free where it may be"

    assert [sentence] * 2 == [watch.gang(name).why for name in ("g", "late")]
    page = as_markdown(observation_page(watch.story())).replace("\xa0", " ")
    assert 2 == page.count(sentence)


def test_the_report_finds_the_record_of_a_shard_of_any_name(watch, capsys):
    watch.see(0, waits())
    watch.see(6, runs())
    watch.path.parent.rename(watch.folder / "default")
    found = run(["report", str(watch.folder)]), capsys.readouterr().out
    (watch.folder / "other").mkdir()
    record = watch.folder / "default" / watch.path.name
    (watch.folder / "other" / record.name).write_bytes(record.read_bytes())
    two = run(["report", str(watch.folder)]), capsys.readouterr().err

    assert (0, True) == (found[0], "beside other" in found[1])
    assert (2, True) == (two[0], "holds 2 observations" in two[1])
    assert f"{watch.folder / 'other'}" in two[1]


def test_who_is_gone_with_its_gang_is_counted_too(watch):
    watch.see(0, waits())
    watch.see(5, runs())
    watch.see(6, runs("other"))

    assert {"default/g": 2} == dict(watch.story().left)


def test_who_went_while_nobody_looked_waited_until_somebody_last_did(watch):
    watch.see(0, waits(), waits("h"), size=2)
    watch.see(600, waits(), waits("h", age=600), size=2)
    watch.observer.leading(is_leader=True)
    watch.see(3600, waits("h", age=3600))
    watch.see(7200, waits("h", age=7200), gang("new", minimum=9))

    assert 600 == watch.gang("g").earlier(START + 7200)
    assert 7200 == watch.gang("h").earlier(START + 7200)


def test_another_gang_of_a_name_that_came_while_nobody_looked_is_another_one(watch):
    watch.see(0, waits(age=100))
    watch.observer.leading(is_leader=True)
    watch.see(3600, waits(age=60))

    assert [START - 100, START + 3540] == [g.came for g in watch.story().gangs]


def test_gangs_are_known_after_the_first_file_of_a_long_record_is_gone(watch):
    watch.observer = Observer(
        RoundFile(watch.path, size=2_000, files=2),
        ["other"],
        lambda _: watch.says,
        Policy(),
    )
    for moment in range(0, 36_000, 600):
        there = runs("there", age=moment), gang("g", minimum=2, gpus=8, age=moment)
        watch.see(moment, *there, gang(f"n{moment}", minimum=1, gpus=9), size=3)
    found = watch.gang("g")

    assert START < watch.story().begin
    assert (START, 16, 2) == (found.came, found.gpus, found.minimum)
    assert watch.gang("there").was_whole
