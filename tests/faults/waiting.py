"""
Faults of heads: who is one, what is held for them, and against whom.
"""

from dataclasses import replace

from solver.hold.heads import Line
from solver.problem.lateness import unit_gpus
from tests.faults.fault import Fault
from tests.faults.switch import always, switch


def _everybody_is_firm(_old):
    return lambda self: frozenset(unit.key for unit in self._units)


def _only_entitled_ones_are_firm(_old):
    def firm(self):
        first = [unit.key for unit in self._units if self._is_entitled(unit)]
        return frozenset(first[: self._problem.policy.waiting.firm])

    return firm


def _against_all_others(_old):
    def is_held(_self, head, unit, **_entitled):
        return unit.key != head.key

    return is_held


def _all_it_takes(_old):
    def more(self, unit):
        return unit_gpus(unit) * (self._waiting.total() - 1)

    return more


def _without_lines(old):
    """
    Let each queue have heads of its own, whatever the policy says.
    """

    def lines(problem):
        waiting = problem.policy.waiting.model_copy(update={"heads_of": "queue"})
        policy = problem.policy.model_copy(update={"waiting": waiting})
        return old(replace(problem, policy=policy))

    return lines


def _every_head(_old):
    return lambda heads, _outcome: tuple(heads)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "no-heads",
        "nothing is held for gangs passed over for long",
        switch("solver.hold.heads:line_of", always(Line())),
        (
            "waiting/nodes-are-held-for-a-gang-passed-over",
            "waiting/one-head-holds-one-rack",
        ),
    ),
    Fault(
        "nodes-held-for-who-is-served",
        "nodes are held for heads for which others leave already",
        switch("solver.round:_still_waiting", _every_head),
        ("waiting/for-a-head-that-others-leave-for-no-node-is-held",),
    ),
    Fault(
        "heads-before-their-time",
        "whoever waits was passed over for long",
        switch("solver.hold.heads:passed_over", always(10**9)),
        ("waiting/no-node-is-held-before-the-time",),
    ),
    Fault(
        "lent-to-whoever-may-be-short",
        "held nodes are lent to what ends in time with 50 per cent",
        switch(
            "solver.run_times.time_left:TimeLeft.within",
            lambda _old: lambda self, _percent: self.half,
        ),
        ("waiting/held-nodes-are-lent-by-the-policys-certainty",),
    ),
    Fault(
        "lent-to-whoever-stays",
        "held nodes are lent to gangs that nothing makes leave",
        switch("solver.hold.lent_out:is_free_to_go", always(True)),
        ("waiting/held-nodes-are-lent-to-who-leaves-again",),
    ),
    Fault(
        "lent-to-nobody-who-leaves",
        "held nodes are lent to nobody who leaves again",
        switch("solver.hold.held_nodes:may_return", always(False)),
        ("waiting/held-nodes-are-lent-to-who-leaves-again",),
    ),
    Fault(
        "held-nodes-are-open",
        "a round is taken as it was planned without heads, whoever is on their nodes",
        switch("solver.plan.serve_heads:_is_kept", always(True)),
        ("waiting/who-needs-few-gpus-is-no-head",),
    ),
    Fault(
        "nobody-is-called-back",
        "who was lent held nodes stays when the head could start",
        switch("solver.plan.serve_heads:called_back", always(None)),
        ("waiting/who-was-lent-held-nodes-leaves-for-the-head",),
    ),
    Fault(
        "who-need-not-leave-is-called-back",
        "who was lent leaves though the round leaves room for both",
        switch("solver.plan.serve_heads:_all_are_needed", always(True)),
        ("waiting/who-was-lent-stays-where-an-eviction-leaves-enough",),
    ),
    Fault(
        "what-is-held-or-lent-is-not-weighed",
        "a round is called proven, whatever could start if other nodes were held, or"
        " what is lent were back",
        switch(
            "solver.plan.helped:within_bounds", lambda _: lambda outcome, *_: outcome
        ),
        ("waiting/who-was-lent-leaves-where-more-start-so",),
    ),
    Fault(
        "most-work-is-called-back",
        "of those that were lent held nodes the ones with most work leave",
        switch("solver.plan.called_back:_work", lambda old: lambda *of: -old(*of)),
        ("waiting/who-was-lent-held-nodes-leaves-for-the-head",),
    ),
    Fault(
        "called-back-at-any-age",
        "who was lent held nodes leaves however long it has run",
        switch("solver.hold.lent_out:_may_go_now", always(True)),
        ("waiting/what-was-lent-for-too-long-stays",),
    ),
    Fault(
        "called-back-before-higher-bands",
        "a head calls back what it lent where a higher band has the room",
        switch("solver.plan.serve_heads:_serves", always(True)),
        ("waiting/a-head-takes-back-no-more-than-it-lent",),
    ),
    Fault(
        "holds-slip",
        "nodes are held for however long it takes",
        switch("solver.hold.heads:has_slipped", always(False)),
        (
            "waiting/a-hold-that-slipped-is-given-up",
            "waiting/how-far-a-hold-may-slip-is-the-policys",
        ),
    ),
    Fault(
        "heads-by-name",
        "of those passed over for long the first by name is the head",
        switch("solver.hold.heads:by_rank", lambda _old: lambda unit: unit.key),
        ("waiting/the-longest-passed-over-gets-the-rack",),
    ),
    Fault(
        "heads-of-each-queue-always",
        "each queue has its heads, where one line was asked for, too",
        switch("solver.hold.heads:_first_in_line", _without_lines),
        ("waiting/one-head-of-the-whole-cluster",),
    ),
    Fault(
        "nobody-is-firm",
        "what is entitled elsewhere starts on held nodes of any head",
        switch("solver.hold.held_nodes:_Holds._firm_ones", always(frozenset())),
        (
            "waiting/one-head-is-firm-unless-said",
            "waiting/a-head-long-overdue-is-firm-above-its-share",
        ),
    ),
    Fault(
        "everybody-is-firm",
        "every head holds against what is entitled elsewhere",
        switch("solver.hold.held_nodes:_Holds._firm_ones", _everybody_is_firm),
        (
            "waiting/only-the-first-in-line-is-firm",
            "waiting/a-head-not-yet-overdue-is-not-firm",
        ),
    ),
    Fault(
        "never-firm-above-its-share",
        "a head that its share has no room for is never firm",
        switch(
            "solver.hold.held_nodes:_Holds._firm_ones", _only_entitled_ones_are_firm
        ),
        ("waiting/a-head-long-overdue-is-firm-above-its-share",),
    ),
    Fault(
        "heads-hold-against-everybody",
        "held nodes are held against higher bands and short work, too",
        switch("solver.hold.held_nodes:_Holds._is_held", _against_all_others),
        (
            "waiting/entitled-work-of-other-queues-is-not-held-back",
            "waiting/what-ends-before-the-head-starts-may-run",
        ),
    ),
    Fault(
        "everything-ends-in-time",
        "whoever waits ends before a head is expected to start",
        switch("solver.hold.held_nodes:_Holds._run_time", always(1)),
        (
            "waiting/idle-nodes-are-left-idle-where-the-policy-holds",
            "waiting/the-last-end-sets-the-expected-start",
        ),
    ),
    Fault(
        "run-times-are-not-known",
        "nobody is known to end before a head is expected to start",
        switch("solver.hold.held_nodes:_Holds._run_time", always(None)),
        (
            "waiting/what-ends-before-the-head-starts-may-run",
            "waiting/the-last-end-sets-the-expected-start",
        ),
    ),
    Fault(
        "no-budget-for-holding",
        "as much may idle for heads as they like",
        switch("solver.hold.turns:budget_left", always(10**12)),
        ("waiting/nothing-idles-once-the-budget-is-used",),
    ),
    Fault(
        "a-budget-of-nothing",
        "nothing may idle for heads",
        switch("solver.hold.turns:budget_left", always(0)),
        (
            "waiting/what-is-held-idles-within-the-budget",
            "waiting/the-budget-is-the-policys",
        ),
    ),
    Fault(
        "all-idle-counts",
        "what nobody else needs counts against the budget, too",
        switch("solver.hold.heads:_HeadChoice._pressed", always(10**9)),
        ("waiting/what-others-need-no-held-node-for-costs-nothing",),
    ),
    Fault(
        "every-head-has-its-turn",
        "a head goes first however many that holds up",
        switch("solver.hold.turns:Turns.has_turn", always(True)),
        ("waiting/a-head-waits-while-others-outweigh-it",),
    ),
    Fault(
        "equals-are-held-up",
        "a head holds up those who ask for as much as it does, too",
        switch("solver.hold.turns:Turns._more_than_others", _all_it_takes),
        ("waiting/a-head-is-not-outweighed-by-those-as-large",),
    ),
    Fault(
        "no-head-has-its-turn",
        "no head goes first",
        switch("solver.hold.turns:Turns.has_turn", always(False)),
        (
            "waiting/a-head-has-its-turn-when-it-outweighs-the-others",
            "waiting/a-head-that-fits-now-starts",
        ),
    ),
    Fault(
        "small-heads",
        "nodes are held for those who need few GPUs, too",
        switch("solver.hold.heads:needs_gpus", always(True)),
        ("waiting/who-needs-few-gpus-is-no-head",),
    ),
    Fault(
        "nobody-is-late",
        "those passed over for long count nothing in their tier",
        switch("solver.problem.lateness:is_late", always(False)),
        ("tiers/late-before-more-gangs", "tiers/late-counts-only-who-is-large"),
    ),
    Fault(
        "late-before-their-time",
        "those passed over for less than was said count as late",
        switch("solver.problem.lateness:passed_over", always(10**9)),
        ("tiers/late-before-its-time-counts-nothing",),
    ),
    Fault(
        "small-ones-are-late",
        "those who need few GPUs count as late, too",
        switch("solver.problem.lateness:needs_gpus", always(True)),
        ("tiers/late-counts-only-who-is-large",),
    ),
)
