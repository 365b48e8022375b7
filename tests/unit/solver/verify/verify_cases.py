"""
Cases of the judge: a plan that breaks one rule, and the same plan repaired.

Cases with evictions are mostly small variations of one round: ``v`` runs on ``n0``,
``w`` has a higher priority, needs that room, and is reserved there.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

from models.gangs import Gang, PodPhase, PodSet
from models.plan import GangLine, Operation, Plan
from models.policy import Policy
from models.snapshot import Snapshot
from tests.helpers.build import bind, gang, key, line, nodes, plan, queue, snapshot

POLICY = Policy()


@dataclass(frozen=True, kw_only=True)
class Broken:
    """
    A snapshot, a plan that breaks one rule, and one that breaks none.

    ``allowing`` is the policy for the second, where it is not the same.
    """

    rule: str
    label: str
    given: Snapshot
    plan: Plan
    repaired: Plan = field(default_factory=plan)
    policy: Policy = POLICY
    allowing: Policy | None = None

    @property
    def name(self):
        return f"{self.rule}: {self.label}" if self.label else self.rule


def broken(rule, given, made, repaired=None, label="", **policies):
    return Broken(
        rule=rule,
        label=label,
        given=given,
        plan=made,
        repaired=repaired or plan(),
        **policies,
    )


# Plans with evictions


def evict(pod, at="n0", *names, rule="preempt", gang=None):
    for_ = tuple(key(name) for name in names or ("w",))
    return bind(pod, at, gang, op="Evict", rule=rule, beneficiaries=for_)


def move(pod, source, at, *names, rule="consolidate"):
    for_ = tuple(key(name) for name in names or ("w",))
    return bind(pod, at, op="Move", source=source, rule=rule, beneficiaries=for_)


def stale(pod, at="n0", gang=None):
    return replace(evict(pod, at, rule="stale", gang=gang), beneficiaries=())


def reserve(pod, at="n0", gang=None):
    return bind(pod, at, gang, op="Reserve")


def reserves(gang, *places, start=0):
    return [reserve(f"{gang}-{i}", at, gang) for i, at in enumerate(places, start)]


def made(*steps: Operation, entitled=(), guaranteed=(), **fields) -> Plan:
    """
    Build a plan with a line that is right for every gang it does something with.
    """
    called = {key(name) for name in entitled}
    sure = {key(name) for name in guaranteed}
    done: dict[str, Counter] = {}
    for step in steps:
        done.setdefault(step.gang, Counter())[step.op] += 1
    lines = [
        said(name, done[name], entitled=name in called, guaranteed=name in sure)
        for name in sorted(done)
    ]
    return plan(*steps, **({"lines": lines} | fields))


def said(name, done=None, state=None, **fields) -> GangLine:
    """
    Build the line of a gang with so many operations of each kind.
    """
    done = done or Counter()
    leaves = done["Evict"] + done["Move"]
    if state is None:
        state = "Evicting" if leaves else "Starting" if done["Bind"] else "Reserved"
    built = line(name, state, done["Bind"], **fields)
    return replace(built, pods=replace(built.pods, evicting=leaves))


# Who runs and who waits


def victim(name="v", *places, **fields) -> Gang:
    places = places or ("n0",)
    return gang(name, **{"gpus": 8, "running": places, "minimum": len(places)} | fields)


def needy(name="w", **fields) -> Gang:
    return gang(name, **{"gpus": 8, "priority": 1} | fields)


def aged(made: Gang, seconds: int, phase=PodPhase.RUNNING) -> Gang:
    """
    Let the pods of a gang be in a phase for some time.
    """
    assert isinstance(made.tree, PodSet)
    pods = tuple(
        replace(pod, seconds=seconds) if pod.phase is phase else pod
        for pod in made.tree.pods
    )
    return replace(made, tree=replace(made.tree, pods=pods))


def evicting(**fields) -> Policy:
    return Policy.model_validate({"evict": fields})


GOOD = (evict("v-0"), reserve("w-0"))
ONE = snapshot(nodes(3), [victim(), needy()])
FULL = snapshot(
    nodes(2),
    [victim(queue="p"), victim("u", "n1", queue="p"), needy(queue="q")],
    [queue("p"), queue("q", quota=8)],
)
RECLAIM = made(evict("v-0", rule="reclaim"), reserve("w-0"), entitled=["w"])
