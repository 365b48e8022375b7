"""
Gathering: all that runs and may leave for the starts of a step, in accounts.
"""

from collections.abc import Mapping
from dataclasses import replace

from models.gangs import Gang, PodSet, leaf_of
from models.resources import Resources
from solver.evict.group_mates import mates_of_waiting
from solver.evict.rights.may_leave import Permissions, Rights
from solver.evict.victims import Account, Victim, Victims, Wide
from solver.problem.gang_state import Standing, standing
from solver.problem.leaving_pods import NOWHERE
from solver.problem.problem import Problem
from solver.problem.running_gangs import Runner, work_of


def victims_of(problem: Problem) -> Victims:
    """
    Gather what may leave for the starts of a step.
    """
    return _Gathering(problem).run()


class _Gathering:
    """
    One walk over all gangs that run.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.index = problem.room.index
        self.may = Permissions(problem)
        self.found = Victims()
        self._known: dict[object, int] = {}
        budgets: dict[str, list[int]] = {}
        for at, budget in enumerate(problem.snapshot.budgets):
            for name in budget.gangs:
                budgets.setdefault(name, []).append(at)
        self._budgets = {name: tuple(of) for name, of in budgets.items()}
        self._mates = mates_of_waiting(problem)

    def run(self) -> Victims:
        singles, others = self.problem.runners.all
        for gang, pod, host, work, number in singles:
            if self.may.may_leave(gang):
                rights = self.may.of(gang, pod.seconds)
                if rights:
                    victim = Victim(((0, pod),), work, gang)
                    self._add_small(victim, host, rights, number)
        for gang, pods in others:
            if self.may.may_leave(gang):
                self._add_large(gang, pods)
        return self.found

    def _add_small(
        self,
        victim: Victim,
        host: int,
        rights: Rights,
        number: int,
        requests: Resources | None = None,
    ) -> None:
        gang = victim.gang
        budgets = self._budgets.get(gang.key, ()) if self._budgets else ()
        key = self._kind_of(victim, rights, number, budgets)
        around = self.problem.around
        if around is not None and isinstance(gang.tree, PodSet):
            key = (key, gang.tree.neighbours, gang.key in around.stale)
        at = self._known.get(key)
        if at is None:
            at = self._known[key] = len(self.found.accounts)
            if requests is None:
                assert isinstance(gang.tree, PodSet)
                requests = gang.tree.requests
            self.found.accounts.append(
                Account(
                    queue=self.problem.queues.leaf(gang.queue),
                    band=self.problem.bands.of(gang.priority),
                    requests=requests,
                    pods=len(victim.pods),
                    rights=rights,
                    budgets=budgets,
                    sample=victim,
                )
            )
        self.found.on_node.setdefault(host, {}).setdefault(at, []).append(victim)

    @staticmethod
    def _kind_of(
        victim: Victim, rights: Rights, number: int, budgets: tuple[int, ...]
    ) -> object:
        """
        Give what small gangs have in common that nothing needs to tell apart.
        """
        gang = victim.gang
        tree = gang.tree
        if not isinstance(tree, PodSet) or (
            rights.move and (tree.topology is not None or tree.exclusive)
        ):
            return gang.key
        demand = tree.demand if rights.move else None
        pods = len(victim.pods)
        return (gang.queue, gang.priority, number, pods, rights, budgets, demand)

    def _add_large(self, gang: Gang, pods: tuple[Runner, ...]) -> None:
        """
        Add a gang of several pods, or one that is not complete.
        """
        state = standing(gang)
        of_pod = [self.may.of(gang, pod.seconds) for _, pod in pods]
        whole = of_pod[0]
        for rights in of_pod:
            whole = whole & rights
        loose = state.satisfied and _has_choice(state)
        if not loose and not whole:
            return
        if loose and not any(of_pod):
            return
        if not state.satisfied:
            whole = replace(whole, move=False)
            if not whole:
                return
        hosts = tuple(self.index.get(pod.node or "", NOWHERE) for _, pod in pods)
        together = not loose and len(set(hosts)) == 1 and hosts[0] >= 0
        if together and state.satisfied and gang.key not in self._mates:
            victim = self._victim(gang, pods)
            first = leaf_of(gang, pods[0][0]).requests
            number = self.problem.runners.number_of(first)
            self._add_small(victim, hosts[0], whole, number, victim.requests)
            return
        if all(host < 0 for host in hosts):
            return
        self._add_wide(gang, state if loose else None, pods, hosts, whole, of_pod)

    def _add_wide(
        self,
        gang: Gang,
        state: Standing | None,
        pods: tuple[Runner, ...],
        hosts: tuple[int, ...],
        whole: Rights,
        of_pod: list[Rights],
    ) -> None:
        """
        Add a gang on several nodes: as one account, or one for pods that are alike.
        """
        accounts: dict[object, int] = {}
        counts: dict[int, int] = {}
        parts: dict[tuple[int, int], list[Runner]] = {}
        for runner, host, rights in zip(pods, hosts, of_pod, strict=True):
            key = None if state is None else (runner[0], rights)
            if key not in accounts:
                accounts[key] = len(self.found.accounts)
                one = self._account(gang, runner, whole)
                one = one if key is None else _of_pods(one, rights)
                self.found.accounts.append(one)
            at = accounts[key]
            counts[at] = counts.get(at, 0) + 1
            parts.setdefault((at, host), []).append(runner)
        self._add_alike(gang, parts, singly=state is not None)
        self.found.wide.append(
            Wide(
                gang=gang,
                queue=self.problem.queues.leaf(gang.queue),
                band=self.problem.bands.of(gang.priority),
                pods=pods,
                hosts=hosts,
                rights=whole,
                budgets=self._budgets.get(gang.key, ()),
                state=state,
                accounts=tuple(accounts.values()),
                counts=counts,
            )
        )

    def _add_alike(
        self, gang: Gang, parts: Mapping[tuple[int, int], list[Runner]], *, singly: bool
    ) -> None:
        for (at, host), runners in parts.items():
            if host >= 0:
                groups = [(one,) for one in runners] if singly else [tuple(runners)]
                row = self.found.on_node.setdefault(host, {}).setdefault(at, [])
                row += [self._victim(gang, pods) for pods in groups]

    def _victim(self, gang: Gang, pods: tuple[Runner, ...]) -> Victim:
        return Victim(pods, work_of(self.problem.values, gang, pods), gang)

    def _account(self, gang: Gang, runner: Runner, rights: Rights) -> Account:
        """
        Stand for a gang on several nodes that goes whole.
        """
        return Account(
            queue=self.problem.queues.leaf(gang.queue),
            band=self.problem.bands.of(gang.priority),
            requests={},
            pods=0,
            rights=rights,
            budgets=self._budgets.get(gang.key, ()),
            wide=len(self.found.wide),
            sample=Victim((runner,), 0, gang),
        )


def _of_pods(account: Account, rights: Rights) -> Account:
    """
    Let an account stand for pods of one leaf that may leave one by one.
    """
    victim = account.sample
    ((leaf, _),) = victim.pods
    requests = leaf_of(victim.gang, leaf).requests
    return replace(account, requests=requests, pods=1, leaf=leaf, rights=rights)


def _has_choice(state: Standing) -> bool:
    """
    Tell whether a satisfied gang may lose some pods and keep others.
    """
    if len(state.nodes) > 1:
        return True
    leaf = state.leaves[0]
    return len(leaf.running) > 1 and (leaf.counted > leaf.minimum or not leaf.minimum)
