"""
Gang trees in the small model: what satisfies a node, and the least value of a need.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from exact.solved import solved
from models.gangs import PodSet, Tree, pod_sets
from solver.effort.cp_sat import cp_model

Counts = Mapping[str, int]


def satisfied(tree: Tree, counted: Counts) -> bool:
    """
    Tell whether counted pods satisfy a tree node.
    """
    if isinstance(tree, PodSet):
        return counted[tree.name] >= tree.minimum
    total = sum(counted[leaf.name] for leaf in pod_sets(tree))
    children = sum(
        satisfied(child, counted) and any(counted[x.name] for x in pod_sets(child))
        for child in tree.children
    )
    return total >= tree.min_pods and children >= tree.min_groups


def tree_nodes(tree: Tree) -> Iterator[Tree]:
    """
    Walk a tree's nodes, parents first.
    """
    yield tree
    if not isinstance(tree, PodSet):
        for child in tree.children:
            yield from tree_nodes(child)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRules:
    """
    The rows of one tree: new pods per leaf, and literals that imply satisfaction.
    """

    model: cp_model.CpModel
    counted: Counts
    placed: Mapping[str, cp_model.IntVar]
    leaf_ok: dict[str, cp_model.IntVar] = field(default_factory=dict)
    leaf_used: dict[str, cp_model.IntVar] = field(default_factory=dict)

    def add(self, tree: Tree) -> cp_model.IntVar:
        """
        Ensure that leaves with new pods, and all nodes above them, are satisfied.

        Ensure also that a leaf has new pods only with the minimum of every leaf it
        comes after.  Give a literal that implies that the root is satisfied.
        """
        root = self._satisfied(tree)
        for leaf in pod_sets(tree):
            for first in leaf.after:
                self.model.add_implication(
                    self.leaf_used[leaf.name], self.leaf_ok[first]
                )
        return root

    def _satisfied(self, tree: Tree) -> cp_model.IntVar:
        okay = self.model.new_bool_var("")
        if isinstance(tree, PodSet):
            self._add_leaf(tree, okay)
            return okay
        counting = [self._counting(child) for child in tree.children]
        self.model.add(sum(counting) >= tree.min_groups).only_enforce_if(okay)
        self.model.add(self._pods(tree) >= tree.min_pods).only_enforce_if(okay)
        for leaf in pod_sets(tree):
            self.model.add_implication(self.leaf_used[leaf.name], okay)
        return okay

    def _add_leaf(self, leaf: PodSet, okay: cp_model.IntVar) -> None:
        used = self.model.new_bool_var("")
        self.model.add(self._pods(leaf) >= leaf.minimum).only_enforce_if(okay)
        self.model.add(self.placed[leaf.name] == 0).only_enforce_if(~used)
        self.model.add_implication(used, okay)
        self.leaf_ok[leaf.name] = okay
        self.leaf_used[leaf.name] = used

    def _counting(self, child: Tree) -> cp_model.IntVar:
        counts = self.model.new_bool_var("")
        self.model.add_implication(counts, self._satisfied(child))
        self.model.add(self._pods(child) >= 1).only_enforce_if(counts)
        return counts

    def _pods(self, tree: Tree) -> cp_model.LinearExprT:
        names = [leaf.name for leaf in pod_sets(tree)]
        new = cp_model.LinearExpr.sum([self.placed[name] for name in names])
        return new + sum(self.counted[name] for name in names)


def least_value(
    tree: Tree, counted: Counts, pending: Counts, values: Counts
) -> int | None:
    """
    Give the least value of the pending pods that make a tree satisfied, if any do.
    """
    if isinstance(tree, PodSet):
        lacking = max(0, tree.minimum - counted[tree.name])
        return lacking * values[tree.name] if lacking <= pending[tree.name] else None
    model = cp_model.CpModel()
    placed = {name: model.new_int_var(0, most, "") for name, most in pending.items()}
    rules = TreeRules(model=model, counted=counted, placed=placed)
    model.add(rules.add(tree) == 1)
    model.minimize(sum(values[name] * placed[name] for name in placed))
    solver = solved(model)
    return None if solver is None else round(solver.objective_value)
