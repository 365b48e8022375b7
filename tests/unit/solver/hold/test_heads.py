"""
Protected heads: who is one, what is held for it and when, and who may use it meanwhile.
"""

from dataclasses import dataclass, field, replace

import pytest

from models.gangs import pod_sets
from models.policy import Policy, Tier, WaitingPolicy
from solver.hold.heads import head_facts, heads_of
from solver.hold.held_nodes import with_heads
from solver.place.draft import Draft
from solver.place.greedy import greedy
from solver.problem.node_room import Places
from solver.problem.problem import problem_of
from solver.round import budget_of
from solver.search.round_steps import search
from tests.helpers.build import (
    gang,
    group,
    leaf,
    node,
    nodes,
    queue,
    required,
    selector,
    snapshot,
)

HOUR = 3600
LATE = 2 * HOUR
AT_ONCE = {"budget": 1, "outweigh": 0}
"""
A policy that asks neither what a turn costs others nor what idles for it.
"""


def waiting(**fields):
    return Policy(waiting=WaitingPolicy(**fields))


def since(gang, seconds):
    """
    Let the pods that run or leave have done so for some seconds.
    """

    def aged(tree):
        if hasattr(tree, "children"):
            return replace(tree, children=tuple(aged(child) for child in tree.children))
        pods = (replace(p, seconds=seconds) if p.node else p for p in tree.pods)
        return replace(tree, pods=tuple(pods))

    return replace(gang, tree=aged(gang.tree))


def busy(name, *where, gpus=4, ran=0, **fields):
    """
    Build a gang of which one pod runs on each of some nodes.
    """
    return since(
        gang(name, minimum=len(where), gpus=gpus, running=where, **fields), ran
    )


def large(name="large", minimum=2, **fields):
    return gang(name, minimum=minimum, **({"gpus": 8, "passed_over": LATE} | fields))


def ask(hosts, *gangs, policy=None, queues=()):
    return problem_of(snapshot(hosts, gangs, queues), policy or Policy())


def only(problem):
    (head,) = heads_of(problem)
    return head


def keys(problem):
    return [head.key.removeprefix("default/") for head in heads_of(problem)]


def names(problem, head):
    return [problem.room.nodes[at].name for at in head.nodes]


def started(problem):
    draft = greedy(with_heads(problem, heads_of(problem)))
    return {key.removeprefix("default/") for key in draft.places}


# --- who is a head ------------------------------------------------------------------


def test_the_gang_passed_over_longest_is_the_head_of_its_queue():
    problem = ask(
        nodes(2),
        busy("full", "n0", "n1", gpus=8),
        large("long", passed_over=3 * HOUR),
        large("longer", passed_over=4 * HOUR),
        large("new", passed_over=HOUR - 1),
    )

    assert keys(problem) == ["longer"]


def test_a_gang_passed_over_for_exactly_the_time_is_a_head():
    assert keys(ask(nodes(2), large(passed_over=HOUR))) == ["large"]


def test_of_equals_the_older_and_then_the_first_by_name_is_the_head():
    older = [large("a", age=5), large("b", age=6), large("c", age=6)]

    assert keys(ask(nodes(2), *older)) == ["b"]


def test_bands_come_first_and_there_are_as_many_heads_as_the_policy_says():
    gangs = [
        large("low", minimum=1, passed_over=9 * HOUR, priority=1),
        large("high", minimum=1, priority=2),
        large("other", minimum=1, priority=2, passed_over=3 * HOUR),
    ]

    assert keys(ask(nodes(3), *gangs, policy=waiting(heads=2))) == ["other", "high"]


def test_the_whole_cluster_has_one_line_of_heads_where_the_policy_says_so():
    gangs = [
        large("first", queue="t", passed_over=3 * HOUR),
        large("second", queue="u"),
        large("third", queue="t"),
    ]

    def ask_with(most):
        policy = waiting(heads=most, headsOf="cluster")
        return ask(nodes(8), *gangs, policy=policy, queues=[queue("t"), queue("u")])

    assert keys(ask_with(1)) == ["first"]
    assert keys(ask_with(2)) == ["first", "second"]


def test_every_leaf_queue_has_heads_of_its_own_and_they_share_one_order():
    gangs = [
        large("blue", queue="b", minimum=1),
        large("green", queue="b", minimum=1, passed_over=HOUR),
        large("red", queue="r", minimum=1, passed_over=3 * HOUR),
    ]
    problem = ask(nodes(3), *gangs, queues=[queue("b"), queue("r")])

    assert keys(problem) == ["red", "blue"]


def test_a_member_passed_over_makes_its_group_a_head_that_needs_room_for_all():
    mates = ["a", "b"]
    problem = ask(
        nodes(3),
        large("a", minimum=1, mates=mates),
        large("b", minimum=1, mates=mates, passed_over=0),
    )
    head = only(problem)

    assert (head.key, head.start, len(head.nodes)) == ("default/a", 0, 2)


def test_a_clock_that_jumped_back_makes_no_head_and_changes_nothing():
    problem = ask(nodes(2), large(passed_over=0), gang("small"))

    assert heads_of(problem) == ()
    assert with_heads(problem, ()) is problem


def test_no_heads_switch_them_off():
    problem = ask(nodes(2), large(), policy=waiting(heads=0))

    assert heads_of(problem) == ()


def test_surplus_of_a_gang_that_runs_makes_no_head():
    grows = gang("grows", minimum=1, replicas=2, running=["n0"], passed_over=LATE)

    assert heads_of(ask(nodes(1), grows)) == ()


def test_priorities_at_the_ends_of_their_range_are_ordered():
    least, most = -(2**31), 2**31 - 1
    gangs = [
        large("least", minimum=1, priority=least, passed_over=9 * HOUR),
        large("most", minimum=1, priority=most),
        gang("small-least", priority=least, gpus=2),
        gang("small-most", priority=most, gpus=2),
    ]
    problem = ask(nodes(1), *gangs, policy=waiting(heads=2))
    first = only(problem)

    assert (first.key, first.start, first.nodes) == ("default/most", 0, (0,))
    assert started(problem) == {"most"}


# --- which nodes, and when ----------------------------------------------------------


def test_a_head_that_fits_holds_what_it_would_use_now():
    problem = ask(nodes(3), busy("full", "n1"), large())
    head = only(problem)

    assert names(problem, head) == ["n0", "n2"]
    assert head.start == 0


def test_the_start_is_the_end_after_which_there_is_room():
    ends = [
        busy(f"r{i}", f"n{i}", max_runtime=HOUR * (i + 1), ran=600) for i in range(4)
    ]
    problem = ask(nodes(4), *ends, large())
    head = only(problem)

    assert names(problem, head) == ["n0", "n1"]
    assert head.start == 2 * HOUR - 600


def test_pods_without_a_longest_run_time_never_end():
    problem = ask(
        nodes(3),
        busy("endless", "n0", gpus=1),
        busy("ends", "n1", max_runtime=HOUR),
        large(minimum=2),
        busy("late", "n2", max_runtime=5 * HOUR),
    )
    head = only(problem)

    assert names(problem, head) == ["n1", "n2"]
    assert head.start == 5 * HOUR


def test_a_pod_that_overruns_is_expected_to_end_at_any_moment():
    problem = ask(
        nodes(1),
        busy("over", "n0", max_runtime=HOUR, ran=LATE),
        large(minimum=1, passed_over=17 * HOUR),
        gang("quick", max_runtime=1),
    )

    assert only(problem).start == 0
    assert started(problem) == set()


@pytest.mark.parametrize(("seconds", "start"), [(119, 0), (120, None)])
def test_a_leaving_pod_is_counted_on_for_two_minutes(seconds, start):
    leaves = since(gang("leaves", terminating=["n0"], gpus=4), seconds)
    problem = ask(nodes(1), leaves, large(minimum=1))

    assert (only(problem).nodes, only(problem).start) == ((0,), start)


@pytest.mark.parametrize(("minimum", "held"), [(2, [(0,)]), (3, [])])
def test_a_heads_own_running_pods_stay_where_they_are(minimum, held):
    half = gang(
        "half",
        minimum=minimum,
        gpus=4,
        running=["n0"],
        passed_over=LATE,
        max_runtime=HOUR,
        topology=required(),
    )
    hosts = [node(f"n{i}", zone="z", rack=f"r{i}") for i in range(2)]
    heads = heads_of(ask(hosts, half, busy("full", "n0")))

    assert [head.nodes for head in heads] == held


def test_pods_on_nodes_that_are_gone_end_nowhere():
    problem = ask(
        nodes(1),
        busy("gone", "n7", max_runtime=HOUR),
        busy("full", "n0"),
        large(minimum=1),
    )
    head = only(problem)

    assert (head.nodes, head.start) == ((0,), None)


def test_ends_of_other_queues_make_room_below_a_common_limit():
    queues = [
        queue("top", limit=12),
        queue("mine", parent="top"),
        queue("theirs", parent="top"),
    ]
    problem = ask(
        nodes(3, gpus=4),
        busy("r", "n0", "n1", queue="theirs", max_runtime=HOUR),
        busy("s", "n2", queue="theirs", max_runtime=LATE),
        large(gpus=4, queue="mine"),
        queues=queues,
    )

    assert only(problem).start == HOUR


def test_who_waits_for_a_limit_only_holds_nothing():
    queues = [queue("full", limit=12), queue("other")]
    problem = ask(
        nodes(2),
        busy("r", "n0", queue="full", gpus=8),
        large(minimum=1, queue="full"),
        queues=queues,
    )

    assert heads_of(problem) == ()
    assert with_heads(problem, heads_of(problem)) is problem


def test_who_fits_no_nodes_even_empty_holds_nothing():
    never = gang(
        "never",
        leaf("x", minimum=2, gpus=5),
        leaf("y", minimum=1, gpus=4),
        passed_over=LATE,
    )

    assert heads_of(ask(nodes(2), never)) == ()


def test_who_finds_all_nodes_held_holds_nothing():
    problem = ask(
        nodes(2),
        large("first", passed_over=3 * HOUR),
        large("second"),
        policy=waiting(heads=2),
    )

    assert only(problem).nodes == (0, 1)


def test_only_nodes_that_the_pods_may_use_are_held():
    hosts = [node(f"n{i}", labels={"pool": "ab"[i % 2]}) for i in range(6)]
    problem = ask(
        hosts,
        busy("r", "n1", "n3", "n5"),
        large(demand=selector(pool="b")),
    )

    assert names(problem, only(problem)) == ["n1", "n3"]


def test_a_tree_is_seated_with_all_its_leaves():
    tree = gang(
        "tree",
        group("p", leaf("x", gpus=8), topology=required()),
        group("q", leaf("y", minimum=2, gpus=8), topology=required()),
        passed_over=LATE,
    )
    hosts = [node(f"n{i}", zone="z", rack=f"r{i // 2}") for i in range(4)]
    problem = ask(hosts, busy("r", "n2", "n3", max_runtime=HOUR), tree)
    head = only(problem)

    assert head.start == HOUR
    assert len(head.nodes) == 3


def test_the_choice_of_draining_nodes_stays_while_they_drain():
    loads = {"n0": 6, "n1": 3, "n2": 5, "n3": 4}
    chosen = []
    for drained in range(4):
        left = {at: max(0, gpus - drained) for at, gpus in loads.items()}
        left |= {at: loads[at] for at in ("n0", "n2")}
        runs = [
            busy(f"r-{at}-{i}", at, gpus=1)
            for at, pods in left.items()
            for i in range(pods)
        ]
        problem = ask(nodes(4), *runs, large())
        chosen.append(names(problem, only(problem)))

    assert chosen == [["n1", "n3"]] * 4


# --- who may use them ---------------------------------------------------------------


def test_units_that_are_not_held_back_keep_their_shapes():
    problem = ask(
        nodes(2),
        busy("r", "n0", "n1"),
        large(),
        gang("higher", priority=1, gpus=2),
        gang("equal", gpus=2),
    )
    held = with_heads(problem, heads_of(problem))
    shape = held.shapes.of_leaf

    assert shape["default/higher", 0] == problem.shapes.of_leaf["default/higher", 0]
    assert shape["default/large", 0] == problem.shapes.of_leaf["default/large", 0]
    assert held.shapes.items[shape["default/equal", 0]].banned == (0, 1)
    assert not held.shapes.allowed[shape["default/equal", 0]].any()


def test_who_may_not_be_there_anyway_keeps_its_shape():
    hosts = [node("n0"), node("n1", 2, labels={"pool": "small"})]
    problem = ask(
        hosts,
        busy("r", "n0"),
        large(minimum=1),
        gang("small", demand=selector(pool="small")),
    )

    assert with_heads(problem, heads_of(problem)).shapes.of_leaf == (
        problem.shapes.of_leaf
    )


def test_hosts_banned_for_mates_stay_banned():
    apart = gang("apart", minimum=3, gpus=1, exclusive=True, running=["n0"])
    problem = ask(nodes(3), busy("r", "n1"), large(minimum=1), apart)
    held = with_heads(problem, heads_of(problem))

    assert names(problem, only(problem)) == ["n2"]
    item = held.shapes.items[held.shapes.of_leaf["default/apart", 0]]
    assert item.banned == (0, 2)


def test_a_head_may_not_use_what_is_held_for_another():
    problem = ask(
        nodes(2),
        large("first", minimum=1, passed_over=3 * HOUR),
        large("second", minimum=1),
        policy=waiting(heads=2),
    )
    first, second = heads_of(problem)
    held = with_heads(problem, (first, second))

    assert (first.nodes, second.nodes) == ((0,), (1,))
    fits = held.shapes.fits[held.shapes.of_leaf["default/second", 0]]
    assert fits.tolist() == [False, True]


@pytest.mark.parametrize(
    ("times", "starts"),
    [((HOUR,), True), ((HOUR + 1,), False), ((HOUR, None), False), ((0,), False)],
)
def test_backfilling_needs_an_end_before_the_start_of_every_mate(times, starts):
    mates = [f"m{i}" for i in range(len(times))]
    problem = ask(
        nodes(2),
        busy("r", "n0", "n1", max_runtime=HOUR),
        large(),
        *(
            gang(m, mates=mates, max_runtime=t)
            for m, t in zip(mates, times, strict=True)
        ),
    )

    assert bool(started(problem)) == starts


def shared(policy=None, **fields):
    """
    Ask about a head of one queue, and small gangs of another with a share of 4 GPUs.
    """
    return ask(
        nodes(2),
        busy("r", "n0", "n1", queue="train"),
        large(queue="train"),
        gang("small", queue="serve", **fields),
        policy=policy,
        queues=[queue("train", quota=16), queue("serve", quota=4, weight=0)],
    )


def test_what_fits_its_own_share_elsewhere_is_not_held_back():
    assert started(shared(gpus=4)) == {"small"}


def test_what_is_larger_than_its_share_is_held_back():
    assert started(shared(minimum=2, gpus=4)) == set()


def entitled_head(policy=None, quota=16, **fields):
    """
    Ask about a head that has room in its share, and an entitled gang of another queue.
    """
    return ask(
        nodes(2),
        busy("r", "n0", "n1", queue="serve", gpus=1),
        large(queue="train", **fields),
        gang("small", queue="serve", gpus=1),
        policy=policy,
        queues=[
            queue("train", quota=quota, weight=0),
            queue("serve", quota=4, weight=0),
        ],
    )


def test_an_entitled_head_holds_against_what_is_entitled_elsewhere():
    assert started(entitled_head()) == set()
    assert started(entitled_head(policy=waiting(firm=0))) == {"small"}


def test_a_head_above_its_share_does_not():
    assert started(entitled_head(quota=15)) == {"small"}


def test_as_many_heads_as_the_policy_says_are_firm_the_longest_passed_over_first():
    pools = {pool: selector(pool=pool) for pool in "ab"}

    def ask_with(firm):
        return ask(
            [node(pool, labels={"pool": pool}) for pool in "ab"],
            busy("r", "a", "b", queue="serve", gpus=1),
            large("x", 1, queue="t", passed_over=3 * HOUR, demand=pools["a"]),
            large("y", 1, queue="u", demand=pools["b"]),
            gang("at-a", queue="serve", gpus=1, demand=pools["a"]),
            gang("at-b", queue="serve", gpus=1, demand=pools["b"]),
            policy=waiting(firm=firm),
            queues=[
                queue("t", quota=8, weight=0),
                queue("u", quota=8, weight=0),
                queue("serve", quota=4, weight=0),
            ],
        )

    assert started(ask_with(0)) == {"at-a", "at-b"}
    assert started(ask_with(1)) == {"at-b"}
    assert started(ask_with(2)) == set()


def test_a_head_above_its_share_is_firm_once_it_was_passed_over_for_long():
    def above(passed_over, **fields):
        policy = waiting(firmAfter=LATE, **fields)
        return entitled_head(quota=0, passed_over=passed_over, policy=policy)

    assert started(above(LATE - 1)) == {"small"}
    assert started(above(LATE)) == set()
    assert started(above(LATE, firm=0)) == {"small"}


def test_a_head_long_overdue_is_firm_in_its_place_in_line():
    policy = waiting(firmAfter=3 * HOUR)
    queues = [queue("t", quota=0), queue("u", quota=8), queue("serve", quota=4)]
    problem = ask(
        nodes(2),
        busy("r", "n0", "n1", queue="serve", gpus=1),
        large("owed", 1, queue="u", passed_over=LATE),
        large("overdue", 1, queue="t", passed_over=3 * HOUR),
        gang("small", queue="serve", gpus=1),
        policy=policy,
        queues=queues,
    )

    assert keys(problem) == ["overdue", "owed"]
    draft = greedy(with_heads(problem, heads_of(problem)))
    assert draft.places["default/small"] == Places(((1,),))


def test_without_entitlement_nothing_is_entitled():
    policy = Policy(tiers=(Tier(name="gangs"),))

    assert started(shared(gpus=4, policy=policy)) == set()


def test_surplus_is_held_back_whatever_its_band():
    grows = gang("grows", minimum=1, replicas=3, running=["n0"], priority=9)
    problem = ask(nodes(2), grows, large())

    assert started(problem) == set()


# --- what is said -------------------------------------------------------------------


def test_a_head_says_what_is_held_and_when_it_starts():
    problem = ask(nodes(6), busy("r", *(f"n{i}" for i in range(6))), large(minimum=6))
    head = only(problem)
    later = replace(head, nodes=head.nodes[:2], start=90)

    assert head_facts(head, problem) == {
        "held": 6,
        "nodes": "n0, n1, n2, n3, 2 more nodes",
    }
    assert head_facts(later, problem) == {"held": 2, "nodes": "n0, n1", "expected": 90}
    assert head_facts(replace(head, nodes=()), problem) == {"held": 0}


# --- over many rounds -----------------------------------------------------------------

STEP = 1800
STAYS = 3


def by_search(problem):
    return search(problem, budget_of(problem.policy)).draft


@dataclass
class World:
    """
    A cluster that never empties: small gangs arrive in every round and run for three.
    """

    plan: object
    policy: Policy
    known: bool = False
    time: int = 0
    waiting: dict[str, object] = field(default_factory=dict)
    running: dict[str, tuple[object, tuple[str, ...], int]] = field(
        default_factory=dict
    )

    def arrive(self):
        for i, gpus in enumerate([1, 2, 1, 4, 1, 2, 3, 1, 2, 4, 1, 2, 2, 1, 3, 6, 2]):
            name = f"small-{self.time:02}-{i:02}"
            end = STAYS * STEP if self.known else None
            self.waiting[name] = gang(name, gpus=gpus, max_runtime=end)

    def step(self):
        """
        Let a round pass; say who started.
        """
        self.time += 1
        self.running = {
            name: entry
            for name, entry in self.running.items()
            if self.time - entry[2] < STAYS
        }
        self.arrive()
        runs = [
            since(
                replace(g, tree=gang(name, gpus=gpus_of(g), running=where).tree),
                (self.time - begun) * STEP,
            )
            for name, (g, where, begun) in self.running.items()
        ]
        problem = ask(nodes(10), *self.waiting.values(), *runs, policy=self.policy)
        draft: Draft = self.plan(with_heads(problem, heads_of(problem)))
        done = [key.removeprefix("default/") for key in draft.places]
        for name in done:
            hosts = draft.places[f"default/{name}"][0]
            where = tuple(problem.room.nodes[host].name for host in hosts)
            self.running[name] = (self.waiting.pop(name), where, self.time)
        self.waiting = {
            name: replace(g, age=g.age + STEP, passed_over=g.passed_over + STEP)
            for name, g in self.waiting.items()
        }
        return done


def gpus_of(gang):
    (part,) = pod_sets(gang.tree)
    return part.requests["nvidia.com/gpu"]


def first_start(plan, policy, *, rounds, known=False):
    """
    Let 64 GPUs be asked for from the third round on; say in which they start.
    """
    world = World(plan, policy, known)
    for at in range(1, rounds + 1):
        if at == 3:
            world.waiting["a-large"] = gang("a-large", minimum=8, gpus=8)
        if "a-large" in world.step():
            return at
    return None


@pytest.mark.parametrize("known", [False, True])
def test_64_gpus_starve_behind_small_gangs_where_there_are_no_heads(known):
    assert first_start(greedy, waiting(heads=0), rounds=20, known=known) is None


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("plan", [greedy, by_search])
def test_64_gpus_start_once_they_were_passed_over_for_long(plan, known):
    passed_over = -(-HOUR // STEP)
    most = 3 + passed_over + STAYS

    at = first_start(plan, waiting(**AT_ONCE), rounds=most, known=known)

    assert at is not None
