"""
The exits of an answer: what leaves of each account is reclaimed, preempted or moved.
"""

from collections.abc import Callable, Iterator, Sequence

from models.gangs import Gang
from models.plan import Rule
from solver.encode.leaving.variables import Leaving
from solver.encode.variables import Var
from solver.evict.pod_exits import pod_exits
from solver.evict.victims import Victim, Wide
from solver.problem.leaving_pods import NOWHERE, Exit
from solver.problem.problem import Problem
from solver.problem.running_gangs import Runner

Value = Callable[[Var], int]
Gone = dict[int, list[tuple[Victim, int]]]
"""
The victims that leave, with their nodes, by account.
"""


class ExitRules:
    """
    Who leaves by which rule; ``moving`` are the victims that are moved, by account.
    """

    def __init__(
        self, problem: Problem, leaving: Leaving, value: Value, gone: Gone
    ) -> None:
        self.problem = problem
        self.leaving = leaving
        self.victims = leaving.victims
        self.value = value
        self.gone = gone
        self.exits: list[Exit] = []
        self.moving: Gone = {}
        self._choose_small()
        for at, wide in enumerate(self.victims.wide):
            self._choose_wide(at, wide)

    def _choose_small(self) -> None:
        """
        Split what leaves of small gangs.
        """
        for account, alike in sorted(self.gone.items()):
            record = self.victims.accounts[account]
            if record.wide >= 0:
                continue
            parting = self.leaving.parting[account]
            alike.sort(key=lambda item: (item[0].cost, item[0].gang.key))
            moved = parting["consolidate"].at(self.value)
            self.moving[account] = alike[:moved]
            preempted = parting["preempt"].at(self.value)
            for i, (victim, node) in enumerate(alike[moved:]):
                rule: Rule = "preempt" if i < preempted else "reclaim"
                self.leave(
                    victim.gang, [(r, node) for r in victim.pods], rule, whole=True
                )

    def _choose_wide(self, at: int, wide: Wide) -> None:
        """
        Split what leaves of a gang on several nodes, unless all of it is moved.
        """
        gone_whole = bool(self.value(self.leaving.gone_whole[at]))
        moved_whole = at in self.leaving.moved_whole and bool(
            self.value(self.leaving.moved_whole[at])
        )
        if moved_whole:
            return
        if wide.state is None:
            if gone_whole:
                parting = self.leaving.parting[wide.accounts[0]]
                preempted = parting["preempt"].at(self.value)
                rule: Rule = "preempt" if preempted else "reclaim"
                runners = list(zip(wide.pods, wide.hosts, strict=True))
                self.leave(wide.gang, runners, rule, whole=True)
            return
        for account in wide.accounts:
            parting = self.leaving.parting[account]
            alike = self.gone.get(account, [])
            single = self.leaving.moved_singly.get(account)
            moved = 0 if single is None else self.value(single)
            self.moving[account] = alike[:moved]
            runners = [(r, node) for victim, node in alike[moved:] for r in victim.pods]
            if gone_whole:
                runners += self._lost(account, wide)
            preempted = parting["preempt"].at(self.value)
            self.leave(wide.gang, runners[:preempted], "preempt", whole=gone_whole)
            self.leave(wide.gang, runners[preempted:], "reclaim", whole=gone_whole)

    def _lost(self, account: int, wide: Wide) -> Iterator[tuple[Runner, int]]:
        """
        Walk the pods of an account on nodes that are gone.
        """
        leaf = self.victims.accounts[account].leaf
        first = next(a for a in wide.accounts if self.victims.accounts[a].leaf == leaf)
        for runner, host in zip(wide.pods, wide.hosts, strict=True):
            if host == NOWHERE and runner[0] == leaf and account == first:
                yield runner, host

    def leave(
        self,
        gang: Gang,
        runners: Sequence[tuple[Runner, int]],
        rule: Rule,
        *,
        whole: bool,
    ) -> None:
        """
        Let some pods of a gang leave by a rule.
        """
        self.exits += pod_exits(self.problem, gang, runners, rule, whole=whole)
