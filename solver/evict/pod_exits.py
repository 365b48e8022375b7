"""
The exits of some pods of one gang: what each holds, and what is lost with it.
"""

from collections.abc import Iterable, Iterator

from models.gangs import Gang, pod_sets
from models.plan import Rule
from solver.problem.leaving_pods import Exit
from solver.problem.problem import Problem
from solver.problem.running_gangs import Runner


def pod_exits(
    problem: Problem,
    gang: Gang,
    runners: Iterable[tuple[Runner, int]],
    rule: Rule,
    *,
    whole: bool,
) -> Iterator[Exit]:
    """
    Let some pods of a gang, each with its node, leave by a rule.
    """
    leaves = tuple(pod_sets(gang.tree))
    band, values = problem.bands.of(gang.priority), problem.values
    for (leaf, pod), host in runners:
        requests = leaves[leaf].requests
        yield Exit(
            gang=gang.key,
            leaf=leaf,
            pod=pod,
            host=host,
            gpus=problem.gpus_of(requests),
            work=values.work(requests, pod.seconds),
            size=values.of_pod(requests),
            rule=rule,
            whole=whole,
            band=band,
        )
