"""
Bins by what can be used on their nodes, where these are, and who stays apart.
"""

from collections.abc import Iterable, Mapping

from solver.problem.node_room import Bools, Ints


class Bins:
    """
    Bins by what can be used on their nodes, where these are, and who stays apart.
    """

    def __init__(self, domains: Ints, apart: Mapping[int, int]) -> None:
        self.domains = domains
        self.apart = apart
        self._index: dict[object, int] = {}
        self._samples: list[tuple[int, Ints, Bools]] = []
        self._numbers: list[int] = []

    def of(self, node: int, row: Ints, fits: Bools) -> int:
        """
        Give a node with so much of use the number of its bin, or -1.
        """
        if not fits.any():
            return -1
        tag = self.apart.get(node, 0)
        name = (fits.tobytes(), row.tobytes(), self.domains[node].tobytes(), tag)
        number = self._index.setdefault(name, len(self._index))
        if number == len(self._samples):
            self._samples.append((node, row, fits))
            self._numbers.append(0)
        return number

    def own(self, node: int, row: Ints, fits: Bools) -> int:
        """
        Give a node a bin of its own, or -1 where it is of no use.
        """
        if not fits.any():
            return -1
        self._index[node] = len(self._index)
        self._samples.append((node, row, fits))
        self._numbers.append(1)
        return self._index[node]

    def count(self, numbers: Iterable[int], nodes: int) -> None:
        """
        Add nodes that could join some bins.
        """
        for number in numbers:
            if number >= 0:
                self._numbers[number] += nodes

    def samples(self) -> list[tuple[int, Ints, Bools, int]]:
        """
        List the bins with a node of each, and the most nodes they may have.
        """
        pairs = zip(self._samples, self._numbers, strict=True)
        return [(*sample, number) for sample, number in pairs]
