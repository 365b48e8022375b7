"""
Placing one gang by hand: its tree, child by child, in the tightest places that fit.

This is search by good habit, not by proof: a child that fails lets its earlier siblings
try their other domains and is then tried first, all within a fixed number of tries;
nothing already placed for other gangs is revisited.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from solver.place.domain_choice import Masks
from solver.place.fill import fill
from solver.place.round_state import RoundState
from solver.problem.core_pods import pod_cost
from solver.problem.gang_state import Standing, TreeNode
from solver.problem.node_room import Bools
from solver.problem.problem import Step, Unit


def place_gang(work: RoundState, state: Standing) -> bool:
    """
    Place the pods that a gang needs to start; undo everything when they do not fit.
    """
    if state.rigid and not all(
        work.could_hold(state, i, leaf.need)
        for i, leaf in enumerate(state.leaves)
        if leaf.need
    ):
        return False
    return _Placing(work, state, work.problem.tuning.place.tries).place(0, None)


def place_unit(work: RoundState, unit: Unit) -> bool:
    """
    Place all gangs of a unit, or none of them.
    """
    mark = work.mark()
    if all(place_gang(work, state) for state in unit.states):
        return True
    work.undo(mark)
    return False


def placed_counts(work: RoundState, unit: Unit) -> dict[str, dict[int, int]]:
    """
    Count the places of each leaf of a unit's gangs.
    """
    return {
        state.key: {i: len(h) for i, h in work.placed.get(state.key, {}).items()}
        for state in unit.states
    }


def place_surplus(work: RoundState, state: Standing) -> int:
    """
    Place pods beyond what is needed, leaf by leaf; say how many.

    In the steps in which somebody may leave there are none.
    """
    if work.problem.step is not Step.IDLE:
        return 0
    return _Placing(work, state, work.problem.tuning.place.tries).surplus(0, None)


@dataclass
class _Placing:
    """
    One gang being placed, and how often something may still be tried for it.
    """

    work: RoundState
    state: Standing
    tries: int

    def place(self, at: int, mask: Bools | None) -> bool:
        """
        Satisfy one tree node, or leave everything as it was.
        """
        return any(True for _ in self.ways(at, mask))

    def ways(self, at: int, mask: Bools | None) -> Iterator[None]:
        """
        Satisfy a tree node in one way after the other, each undone before the next.
        """
        node = self.state.nodes[at]
        for inside in Masks(self.work, self.state, at).inside(mask):
            if self.tries <= 0:
                return
            mark = self.work.mark()
            if node.leaf >= 0:
                self.tries -= 1
                if self._place_leaf(node.leaf, inside):
                    yield
            else:
                yield from self._ways_of_children(at, inside)
            self.work.undo(mark)

    def _place_leaf(self, leaf: int, mask: Bools | None) -> bool:
        here = self.state.leaves[leaf]
        have = self._num(leaf)
        need = max(here.minimum, 1) - here.counted - have
        if need <= 0:
            return True
        if need > len(here.pending) - have or not self._roles_reached(leaf):
            return False
        can = self.work.could_hold(self.state, leaf, need)
        return can and fill(self.work, self.state, leaf, need, mask) == need

    def _num(self, leaf: int) -> int:
        return self.work.num(self.state, leaf)

    def _counted(self, node: TreeNode) -> int:
        return node.counted + sum(self._num(i) for i in node.leaves)

    def _roles_reached(self, leaf: int) -> bool:
        """
        Tell whether every leaf that must come first has its minimum.
        """
        return all(
            self.state.leaves[i].counted + self._num(i) >= self.state.leaves[i].minimum
            for i in self.state.leaves[leaf].after
        )

    def _ways_of_children(self, at: int, mask: Bools | None) -> Iterator[None]:
        """
        Try the children in order of ease; then again, the one that failed first.
        """
        order = self._by_ease(at)
        for _ in range(self.work.problem.tuning.place.most_orders):
            row = _Row(self, at, order, mask)
            for _ in row.ways():
                mark = self.work.mark()
                if self._reach_pods(at, mask):
                    yield
                self.work.undo(mark)
            if self.tries <= 0 or not row.hardest:
                return
            hard = row.open[row.hardest]
            order = [hard, *(child for child in order if child != hard)]

    def live(self, at: int) -> bool:
        """
        Tell whether a tree node is satisfied and holds a counted pod.
        """
        return self._is_satisfied(at) and self._counted(self.state.nodes[at]) > 0

    def _is_satisfied(self, at: int) -> bool:
        node = self.state.nodes[at]
        counted = self._counted(node)
        if node.leaf >= 0:
            return counted >= self.state.leaves[node.leaf].minimum
        return counted >= node.min_pods and node.min_groups <= sum(
            self.live(child) for child in node.children
        )

    def _by_ease(self, at: int) -> list[int]:
        """
        Order children by how easily they are satisfied.

        Those that others wait for come first, then the most confined and the largest
        if all are needed, else the cheapest.
        """
        node = self.state.nodes[at]
        leaves = self.state.leaves
        waited = {i for leaf in leaves for i in leaf.after}
        every = node.min_groups >= len(node.children)

        def rank(child: int) -> tuple[bool, bool, float, int, str]:
            below = self.state.nodes[child].leaves
            after = any(leaves[i].after for i in below)
            first = any(i in waited for i in below)
            cost = sum(leaves[i].need * pod_cost(self.state, i) for i in below)
            path = self.state.nodes[child].path
            if every:
                strain = max(_strain(self.work, self.state, i) for i in below)
                return (not first, after, -strain, -cost, path)
            largest = max(pod_cost(self.state, i) for i in below)
            return (not first, after, largest, cost, path)

        return sorted(node.children, key=rank)

    def _reach_pods(self, at: int, mask: Bools | None) -> bool:
        """
        Add pods below a node until its minimum over all shapes holds.
        """
        node = self.state.nodes[at]
        progress = True
        while progress and self._counted(node) < node.min_pods:
            progress = False
            for leaf, inside in self._open_leaves(at, mask):
                missing = node.min_pods - self._counted(node)
                if missing <= 0:
                    break
                progress |= self._grow_leaf(leaf, inside, missing) > 0
            progress = progress or self._open_group(at, mask)
        return self._counted(node) >= node.min_pods

    def _open_group(self, at: int, mask: Bools | None) -> bool:
        """
        Satisfy one more inner child, so that its pods may count, too.
        """
        return any(
            self.place(child, mask)
            for child in self._by_ease(at)
            if self.state.nodes[child].leaf < 0 and not self.live(child)
        )

    def _grow_leaf(self, leaf: int, mask: Bools | None, most: int) -> int:
        """
        Give a leaf up to ``most`` pods, or at least what its minimum still asks for.
        """
        here = self.state.leaves[leaf]
        have = self._num(leaf)
        least = max(1, here.minimum - here.counted - have)
        count = min(max(most, least), len(here.pending) - have)
        if count < least or not self._roles_reached(leaf):
            return 0
        if not self.work.could_hold(self.state, leaf, least):
            return 0
        mark = self.work.mark()
        done = fill(self.work, self.state, leaf, count, mask)
        if done < least:
            self.work.undo(mark)
            return 0
        return done

    def _open_leaves(
        self, at: int, mask: Bools | None
    ) -> Iterator[tuple[int, Bools | None]]:
        """
        Walk open leaves in role order, each child's domains until one takes pods.
        """
        node = self.state.nodes[at]
        if node.leaf >= 0:
            yield node.leaf, mask
            return
        for child in self._by_ease(at):
            below = self.state.nodes[child]
            if below.leaf < 0 and not self._is_satisfied(child):
                continue
            before = self._counted(below)
            for inside in Masks(self.work, self.state, child).inside(mask):
                yield from self._open_leaves(child, inside)
                if self._counted(below) > before:
                    break

    def surplus(self, at: int, mask: Bools | None) -> int:
        """
        Grow what is below a satisfied node; say by how many pods.
        """
        node = self.state.nodes[at]
        before = sum(self._num(i) for i in node.leaves)
        if before == sum(len(self.state.leaves[i].pending) for i in node.leaves):
            return 0
        masks = Masks(self.work, self.state, at, frugal=self.work.frugal)
        for inside in masks.inside(mask):
            if node.leaf >= 0:
                left = len(self.state.leaves[node.leaf].pending) - before
                self._grow_leaf(node.leaf, inside, left)
            elif self._is_satisfied(at) or self.place(at, inside):
                for child in self._by_ease(at):
                    self.surplus(child, inside)
            if sum(self._num(i) for i in node.leaves) > before:
                break
        return sum(self._num(i) for i in node.leaves) - before


def _strain(work: RoundState, state: Standing, leaf: int) -> float:
    """
    Say how much of all places for a leaf its need would take.
    """
    places = work.free.total(work.shape_of(state, leaf))
    return state.leaves[leaf].need / max(1, places)


class _Row:
    """
    The children of one node, tried in a fixed order with steps back to siblings.

    ``hardest`` is the furthest child for which there was no place at all.
    """

    def __init__(
        self, hand: _Placing, at: int, order: list[int], mask: Bools | None
    ) -> None:
        node = hand.state.nodes[at]
        live = [child for child in order if hand.live(child)]
        self.hand = hand
        self.mask = mask
        self.open = [child for child in order if child not in live]
        self.need = max(node.min_groups, 0 if node.min_pods else 1) - len(live)
        self.hardest = 0
        self._tried: list[Iterator[None] | None] = []
        self._taken = 0

    def ways(self) -> Iterator[None]:
        """
        Satisfy enough children, in one way after the other.
        """
        if self.need > len(self.open):
            return
        forward = True
        while True:
            if not forward:
                if not self._tried:
                    return
                self._taken -= self._tried[-1] is not None
            elif self._taken >= self.need:
                yield
                forward = False
                continue
            else:
                child = self.open[len(self._tried)]
                self._tried.append(self.hand.ways(child, self.mask))
            forward = self._advance(first=forward)

    def _advance(self, *, first: bool) -> bool:
        """
        Move the last child to its next way, pass it over, or drop it.
        """
        last = self._tried[-1]
        if last is not None:
            if next(last, False) is None:
                self._taken += 1
                return True
            if first:
                self.hardest = max(self.hardest, len(self._tried) - 1)
            if len(self.open) - len(self._tried) >= self.need - self._taken:
                self._tried[-1] = None
                return True
        self._tried.pop()
        return False
