"""
Faults of nodes: what fits, what loads them, and hosts of their own.
"""

from dataclasses import replace

from models.gangs import PodPhase
from tests.faults.changes import leaves
from tests.faults.fault import Fault
from tests.faults.switch import Switch, always, becomes, seeing, switch


def _later_resources(old):
    """
    Forget the first resource that pods ask for.
    """

    def rows(requests, kinds, counts):
        return old(requests[:, 1:], kinds[:, 1:], counts)

    return rows


def _without(*fields):
    """
    See a demand on nodes without some of its parts.
    """
    empty = {"selector": (), "terms": None, "tolerations": (), "volumes": ()}
    return lambda demand: replace(demand, **{f: empty[f] for f in fields})


def _some_term_each(demand):
    """
    See every alternative of an affinity as a condition of its own.
    """
    if demand.terms is None:
        return demand
    return replace(demand, terms=(tuple(rule for t in demand.terms for rule in t),))


def _any_rule(demand):
    """
    See every expression of an affinity as an alternative.
    """
    if demand.terms is None:
        return demand
    return replace(demand, terms=tuple((rule,) for t in demand.terms for rule in t))


def _each_node(**amounts):
    """
    See nodes with other amounts of what they have, by field.
    """
    return lambda nodes: tuple(
        replace(
            node,
            **{
                f: {**getattr(node, f), **new} if new else {}
                for f, new in amounts.items()
            },
        )
        for node in nodes
    )


def _operator(name: str, holds) -> Switch:
    """
    Let one operator of node affinity mean something else.
    """

    def change(old):
        def run(self, labels):
            if self.operator != name:
                return old(self, labels)
            return holds(self, labels.get(self.key))

        return run

    return switch("models.nodes:LabelRule.holds", change)


def _accepts(change) -> Switch:
    return switch("models.nodes:Toleration.accepts", change)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "taints-ignored",
        "taints keep nobody off",
        switch("models.nodes:NodeDemand._tolerates", always(value=True)),
        ("nodes/taint-keeps-pods-off", "nodes/taint-no-execute-keeps-pods-off"),
    ),
    Fault(
        "prefer-no-schedule-forbids",
        "a taint PreferNoSchedule keeps pods off",
        switch(
            "models.nodes:NodeDemand._tolerates",
            lambda _old: lambda self, t: any(x.accepts(t) for x in self.tolerations),
        ),
        ("nodes/taint-prefer-no-schedule-is-no-bar",),
    ),
    Fault(
        "toleration-of-any-effect",
        "a toleration of one effect holds for all",
        _accepts(lambda old: lambda t, taint: old(replace(t, effect=""), taint)),
        ("nodes/toleration-of-another-effect",),
    ),
    Fault(
        "toleration-of-any-value",
        "a toleration does not look at the value",
        _accepts(
            lambda old: lambda t, taint: old(replace(t, operator="Exists"), taint)
        ),
        ("nodes/toleration-equal",),
    ),
    Fault(
        "one-taint-tolerated-is-enough",
        "a node with two taints takes pods that tolerate one",
        switch(
            "models.nodes:NodeDemand.allows",
            lambda old: (
                lambda self, node: (
                    old(self, node)
                    or any(
                        old(self, replace(node, taints=(taint,)))
                        for taint in node.taints
                    )
                )
            ),
        ),
        ("nodes/every-taint-must-be-tolerated",),
    ),
    Fault(
        "selector-ignored",
        "a node selector chooses nothing",
        switch("models.nodes:NodeDemand.allows", seeing(at0=_without("selector"))),
        ("nodes/selector-needs-every-label", "nodes/selector-that-no-node-has"),
    ),
    Fault(
        "selector-of-one-label",
        "only the first label of a selector counts",
        switch(
            "models.nodes:NodeDemand.allows",
            seeing(at0=lambda d: replace(d, selector=d.selector[:1])),
        ),
        ("nodes/selector-needs-every-label",),
    ),
    Fault(
        "affinity-ignored",
        "required node affinity chooses nothing",
        switch("models.nodes:NodeDemand.allows", seeing(at0=_without("terms"))),
        ("nodes/affinity-in", "nodes/affinity-and-selector-hold-together"),
    ),
    Fault(
        "volumes-ignored",
        "a pod goes where its volumes cannot be used",
        switch("models.nodes:NodeDemand.allows", seeing(at0=_without("volumes"))),
        (
            "volumes/a-volume-of-a-zone-keeps-its-pods-there",
            "volumes/all-volumes-of-a-pod-are-on-its-node",
        ),
    ),
    Fault(
        "ports-are-worth-a-node",
        "a port of a host, or a slot for a volume, is worth what any resource is",
        switch("solver.problem.pod_values:is_worth_nothing", always(False)),
        (
            "nodes/a-port-is-worth-nothing",
            "volumes/slots-for-volumes-are-worth-nothing",
        ),
    ),
    Fault(
        "one-volume-is-enough",
        "a pod goes where it has the first of its volumes",
        switch(
            "models.nodes:NodeDemand.allows",
            seeing(at0=lambda d: replace(d, volumes=d.volumes[:1])),
        ),
        ("volumes/all-volumes-of-a-pod-are-on-its-node",),
    ),
    Fault(
        "a-volume-for-each-claim-alone",
        "what claims that choose otherwise need together is not counted",
        switch(
            "adapters.kube.gangs.storage.free_volumes:_joined",
            lambda _old: lambda suited, _known: {suited},
        ),
        ("volumes/claims-that-choose-share-what-suits-both",),
    ),
    Fault(
        "a-large-volume-serves-one-size",
        "a claim counts on the volumes that suit it, not on those it leaves to others",
        switch(
            "adapters.kube.gangs.storage.free_volumes:_asked",
            lambda old: (
                lambda suited, names: dict(list(old(suited, names).items())[:1])
            ),
        ),
        ("volumes/a-large-volume-is-left-to-who-needs-it",),
    ),
    Fault(
        "free-volumes-for-any-number",
        "a free volume serves every claim that it suits",
        switch(
            "adapters.kube.gangs.storage.free_volumes:_asked",
            lambda _old: lambda _suited, _names: {},
        ),
        ("volumes/a-free-volume-is-for-one-claim",),
    ),
    Fault(
        "gpus-are-linked-in-any-number",
        "GPUs that must be linked are counted one by one, not in free sets",
        switch(
            "adapters.kube.gangs.devices.linked_sets:asked_of_links",
            lambda old: lambda _size, names: old(1, names),
        ),
        ("koordinator/whole-gpus-in-free-linked-sets",),
    ),
    Fault(
        "affinity-terms-all-hold",
        "every term of an affinity must hold instead of one",
        switch("models.nodes:NodeDemand.allows", seeing(at0=_some_term_each)),
        ("nodes/affinity-terms-are-alternatives",),
    ),
    Fault(
        "affinity-expressions-any-holds",
        "one expression of a term is enough instead of all",
        switch("models.nodes:NodeDemand.allows", seeing(at0=_any_rule)),
        ("nodes/affinity-expressions-hold-together",),
    ),
    Fault(
        "operator-in-is-the-first-value",
        "the operator In looks at its first value only",
        _operator("In", lambda rule, have: have == rule.values[0]),
        ("nodes/affinity-in",),
    ),
    Fault(
        "operator-not-in-needs-the-label",
        "the operator NotIn does not hold where the label is absent",
        _operator(
            "NotIn", lambda rule, have: have is not None and have not in rule.values
        ),
        ("nodes/affinity-not-in-absent",),
    ),
    Fault(
        "operator-exists-ignored",
        "the operator Exists holds everywhere",
        _operator("Exists", lambda _rule, _have: True),
        ("nodes/affinity-exists",),
    ),
    Fault(
        "operator-does-not-exist-ignored",
        "the operator DoesNotExist holds everywhere",
        _operator("DoesNotExist", lambda _rule, _have: True),
        ("nodes/affinity-does-not-exist",),
    ),
    Fault(
        "operator-gt-or-equal",
        "the operator Gt holds for equal numbers",
        _operator(
            "Gt", lambda rule, have: bool(have) and int(have) >= int(rule.values[0])
        ),
        ("nodes/affinity-gt",),
    ),
    Fault(
        "operator-lt-as-text",
        "the operator Lt compares texts instead of numbers",
        _operator("Lt", lambda rule, have: bool(have) and have < rule.values[0]),
        ("nodes/affinity-lt",),
    ),
    Fault(
        "unschedulable-ignored",
        "an unschedulable node takes pods",
        switch(
            "models.nodes:NodeDemand.allows",
            seeing(at1=lambda node: replace(node, unschedulable=False)),
        ),
        ("nodes/unschedulable-takes-no-new-pod",),
    ),
    Fault(
        "load-of-others-ignored",
        "what pods that are not ours use of a node is taken as free",
        switch("models.node_table:table_of", seeing(at0=_each_node(used={}))),
        ("nodes/used-is-load",),
    ),
    Fault(
        "running-load-ignored",
        "what our running pods use of a node is taken as free",
        switch("models.gangs:ON_A_NODE", becomes(frozenset({PodPhase.TERMINATING}))),
        ("gang/growth-yields-to-a-start", "reasons/insufficient-capacity"),
    ),
    Fault(
        "terminating-load-ignored",
        "what our terminating pods use of a node is taken as free",
        switch("models.gangs:ON_A_NODE", becomes(frozenset({PodPhase.RUNNING}))),
        ("gang/terminating-pods-hold-their-room",),
    ),
    Fault(
        "number-of-pods-ignored",
        "a node takes any number of pods",
        switch(
            "models.node_table:table_of",
            seeing(at0=_each_node(allocatable={"pods": 10**6})),
        ),
        ("nodes/a-node-takes-only-so-many-pods",),
    ),
    Fault(
        "a-resource-forgotten",
        "the model does not measure nodes in one of the resources",
        switch("solver.encode.capacity_rows:resource_rows", _later_resources),
        ("tiers/pods", "topology/three-in-a-rack-of-seven-leave-one-idle"),
    ),
    Fault(
        "hosts-are-shared",
        "pods of an exclusive gang may share a host",
        switch(
            "solver.problem.pod_shapes:shapes_of",
            seeing(
                at1=lambda states: [
                    leaves(pod_set=lambda x: replace(x.pod_set, exclusive=False))(s)
                    for s in states
                ]
            ),
        ),
        ("exclusive/each-pod-has-its-own-host", "exclusive/too-few-hosts"),
    ),
    Fault(
        "running-hosts-are-shared",
        "an exclusive pod may join a running one of its gang",
        switch("solver.problem.pod_shapes:_banned", always(())),
        ("exclusive/a-running-pod-takes-its-host",),
    ),
    Fault(
        "no-host-rows",
        "the model does not know that exclusive pods need hosts of their own",
        switch("solver.encode.exclusive_hosts:host_rows", always([])),
        ("exclusive/hosts-of-their-own-count-in-the-choice",),
    ),
)
