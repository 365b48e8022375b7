"""
Faults of topology: required and preferred domains.
"""

from dataclasses import replace

from tests.faults.changes import tiers_by, tree_nodes
from tests.faults.fault import Fault
from tests.faults.switch import always, saying, switch


def _without_required(state, *_):
    """
    See a gang that requires no domain.
    """

    def preferred(node):
        if node.topology is None or node.topology.preferred is None:
            return None
        return replace(node.topology, required=None)

    return tree_nodes(topology=preferred)(state)


def _not_below_others(old):
    """
    Forget the domain of a node above one that has its own.
    """

    def add(model, problem, classes, vars_, at):
        below = any(
            node.topology is not None and at != i and vars_.state.nodes[at].parent < 0
            for i, node in enumerate(vars_.state.nodes)
        )
        if not below:
            old(model, problem, classes, vars_, at)

    return add


def _lost_nodes_pin(found, problem, state, node, *_):
    """
    Take a node that is gone for one outside every domain, whose number is 0.
    """
    index = problem.room.index
    lost = any(
        p.node not in index for i in node.leaves for p in state.leaves[i].running
    )
    return found | {0} if lost else found


def _last_label(_old):
    """
    Name a domain by its own label only, whatever it lies in.
    """

    def domain(self, labels, level):
        if level not in self.levels or level not in labels:
            return None
        return (labels[level],)

    return domain


FAULTS: tuple[Fault, ...] = (
    Fault(
        "required-dropped",
        "a required domain is no constraint where a tree has a choice",
        switch("solver.encode.required_topology:add_required_domain", always(None)),
        ("topology/a-gang-with-a-choice-keeps-to-one-rack",),
    ),
    Fault(
        "required-ignored",
        "a required domain is no more than a word",
        switch("solver.problem.gang_state:standing", saying(_without_required)),
        (
            "topology/required-rack-holds-the-gang-together",
            "topology/surplus-stays-inside-the-domain",
        ),
    ),
    Fault(
        "children-leave-their-parent",
        "children with domains of their own may leave that of their parent",
        switch(
            "solver.encode.required_topology:add_required_domain", _not_below_others
        ),
        ("topology/a-better-hole-outside-the-parent-is-not-taken",),
    ),
    Fault(
        "running-members-do-not-pin",
        "a gang grows in another domain than the one where it runs",
        switch(
            "solver.problem.running_domains:running_cells", saying(lambda *_: set())
        ),
        (
            "topology/missing-members-join-the-running-ones",
            "topology/running-members-pin-the-domain",
        ),
    ),
    Fault(
        "lost-nodes-pin",
        "members on nodes that are gone keep a gang from growing",
        switch("solver.problem.running_domains:running_cells", saying(_lost_nodes_pin)),
        ("topology/members-on-nodes-that-are-gone-pin-nothing",),
    ),
    Fault(
        "racks-of-one-name-are-one",
        "a domain is named by its own label, whatever it lies in",
        switch("models.topology:Topology.domain", _last_label),
        ("topology/racks-of-one-name-in-two-zones-are-two",),
    ),
    Fault(
        "no-label-is-a-domain",
        "nodes without the label are a domain",
        switch(
            "models.topology:Topology.domain",
            lambda old: (
                lambda self, labels, level: old(
                    self, {**dict.fromkeys(self.levels, "none"), **labels}, level
                )
            ),
        ),
        ("topology/a-node-without-the-label-is-outside",),
    ),
    Fault(
        "sum-over-domains",
        "what is wanted in a domain may lie anywhere",
        switch("solver.encode.capacity:_add_domain_rows", always(None)),
        ("topology/three-in-a-rack-of-seven-leave-one-idle",),
    ),
    Fault(
        "preferred-ignored",
        "preferred domains do not count",
        tiers_by(lambda key: -1 if key.name == "topology" else 0),
        (
            "topology/preferred-keeps-together-where-it-can",
            "topology/required-zone-and-preferred-rack",
        ),
    ),
    Fault(
        "preferred-costs-nothing",
        "the model opens preferred domains for nothing",
        switch("solver.encode.preferred_topology:add_preferred_domains", always(None)),
        ("topology/preferred-racks-leave-room-for-most-surplus",),
    ),
    Fault(
        "preferred-is-required",
        "a preferred domain is a condition",
        switch(
            "solver.problem.gang_state:standing",
            saying(
                lambda s, *_: tree_nodes(
                    topology=lambda n: (
                        replace(
                            n.topology,
                            required=n.topology.required or n.topology.preferred,
                        )
                        if n.topology
                        else None
                    )
                )(s)
            ),
        ),
        (
            "topology/preferred-is-no-condition",
            "topology/preferred-never-costs-a-start",
        ),
    ),
)
