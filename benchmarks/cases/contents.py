"""
What parts of equal GPUs could use of them at most, by all contents of one GPU.
"""

from collections.abc import Iterator, Mapping, Sequence

from models.devices.gpu_parts import WHOLE
from solver.effort.cp_sat import cp_model


def most_used(gpus: int, waiting: Mapping[int, int]) -> float:
    """
    Give the most of some GPUs that parts use which wait, so many of each size.

    Parameters
    ----------
    gpus
        How many there are, alike and idle.
    waiting
        How many parts wait, by the thousandths of one GPU that each takes.

    Returns
    -------
    float
        GPUs, where no other resource is short; proven, or what is proven to be enough.
    """
    sizes = sorted(waiting, reverse=True)
    model = cp_model.CpModel()
    contents = [*_contents(sizes, WHOLE)]
    opened = [model.new_int_var(0, gpus, "") for _ in contents]
    model.add(sum(opened) <= gpus)
    used = []
    for at, size in enumerate(sizes):
        placed = model.new_int_var(0, waiting[size], "")
        held = zip(opened, contents, strict=True)
        model.add(placed <= sum(each * content[at] for each, content in held))
        used.append(size * placed)
    model.maximize(sum(used))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = 10
    solver.solve(model)
    return solver.best_objective_bound / WHOLE


def _contents(sizes: Sequence[int], left: int) -> Iterator[tuple[int, ...]]:
    """
    Walk the numbers of each size that together fit one GPU.
    """
    if not sizes:
        yield ()
        return
    for number in range(left // sizes[0] + 1):
        for rest in _contents(sizes[1:], left - number * sizes[0]):
            yield (number, *rest)
