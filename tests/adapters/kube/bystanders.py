"""
Who stands beside a mutated object, and has to stay well.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.kinds import resources_of
from adapters.kube.status.sayings import Told, sayings
from models.policy import Policy
from solver.round import decide
from tests.helpers.kube.manifests import NOW, node, pod

DIALECTS = dialects()

RESOURCES = resources_of(DIALECTS)

BYSTANDERS = [
    node("bystander", 8),
    pod("runs", namespace="bystander", gpus=2, nodeName="bystander"),
    pod("waits", namespace="bystander", gpus=4),
]

COUNTS = ("spec.containers", "spec.initContainers", "spec.overhead", "spec.resources")


def closed_by(snapshot) -> Iterator[str]:
    """
    Give why each node is closed that a pod closed.
    """
    for said in snapshot.warnings:
        if "nothing new goes there, since pod" in said:
            yield said


def assert_bystanders_are_well(snapshot, why) -> None:
    (waits,) = [gang for gang in snapshot.gangs if gang.key == "bystander/waits"]
    (here,) = [node for node in snapshot.nodes if node.name == "bystander"]

    assert waits.refused is None, why
    assert not here.unschedulable, why
    for said in closed_by(snapshot):
        reason = said.partition("cannot be counted: ")[2]
        assert reason.startswith(COUNTS), (said, why)


def assert_planned_and_told(made, why) -> None:
    """
    A round is planned of it, the judge lets it pass, and every gang gets its answer.
    """
    heard = {dialect.name: dialect for dialect in DIALECTS}
    with noting(why):
        plan = decide(made.snapshot, Policy(), strategy="greedy")
        for said in sayings(Told(round="r", now=NOW, assembled=made, plan=plan)):
            if said.claim.source is not None and said.claim.dialect in heard:
                list(heard[said.claim.dialect].answer(said.claim, said.standing))


def assert_told(snapshot, why) -> None:
    """
    What is told is a short line, of an object or a kind.
    """
    for said in snapshot.warnings:
        assert said, why
        assert len(said) < 2_000, (said[:200], why)


@contextmanager
def noting(why) -> Iterator[None]:
    """
    Let what nobody expects name the seed that shows it.
    """
    try:
        yield
    except Exception as error:
        error.add_note(why)
        raise
