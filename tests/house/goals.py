"""
The goals of the structure, each with what is held today.

A row may only get better: ``most`` is lowered by the change that lowers the count.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.house import counts


@dataclass(frozen=True)
class Row:
    """
    One count: what it is now, the most that is let through, and the goal.

    ``most`` is the goal where the goal is reached.  ``where`` names what is counted.
    """

    name: str
    now: int
    most: int
    goal: int
    where: Sequence[str] = ()
    at_least: bool = False

    @property
    def holds(self) -> bool:
        return self.now >= self.most if self.at_least else self.now <= self.most

    @property
    def reached(self) -> bool:
        return self.now >= self.goal if self.at_least else self.now <= self.goal


def rows() -> list[Row]:
    """
    Count everything.
    """
    rooms = counts.solver_modules()
    inner = {room: modules for room, modules in rooms.items() if room != "solver"}
    top = rooms["solver"]
    fullest = max(inner.values(), key=len)
    shared = counts.shared_class_names()
    within = counts.within_one_package(shared)
    across = [name for name in shared if name not in within]
    modules = counts.shared_module_names()
    by_hand = counts.takes_room_by_hand()
    files, classes = counts.long_files(), counts.long_classes()
    functions, full = counts.long_functions(), counts.full_rooms()
    return [
        Row("rooms of solver", len(inner), 10, 10, sorted(inner), at_least=True),
        Row("files in the fullest room of solver", len(fullest), 20, 20, fullest),
        Row("rooms of more than 20 files", len(full), 0, 0, full),
        Row("modules at the top of solver", len(top), 7, 7, top),
        Row("lines of solver without verify", counts.product_lines(), 41_330, 15_500),
        Row("files over 400 lines", len(files), 0, 0, files),
        Row("classes over 200 lines", len(classes), 0, 0, classes),
        Row("functions over 40 lines", len(functions), 0, 0, functions),
        Row("files that take room by hand", len(by_hand), 0, 0, by_hand),
        Row("class names used twice in a package", len(within), 0, 0, sorted(within)),
        Row("class names used across packages", len(across), 5, 5, sorted(across)),
        Row("module names in several rooms", len(modules), 12, 12, sorted(modules)),
    ]
