"""
Pods of one group, and groups, as a server holds them.
"""

from tests.helpers.kube.manifests import (
    in_group,
    obj,
    pod,
)


def members(*numbers, group="g", **fields):
    return [pod(f"{group}-{i}", labels=in_group(group), **fields) for i in numbers]


def kind(version, phase=None, conditions=None, name="g", **spec):
    status = {"phase": phase, "conditions": conditions or []}
    return obj(version, "PodGroup", name, "default", spec=spec, status=status)


def two(selected, **fields):
    return [
        pod(
            f"g-{i}", labels={**in_group("g"), "i": str(i)}, affinity=selected, **fields
        )
        for i in (0, 1)
    ]
