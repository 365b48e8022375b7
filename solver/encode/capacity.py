"""
Capacity: what node classes hold, and that it serves every demand where it is wanted.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from solver.effort.cp_sat import cp_model
from solver.encode.demand import Demand
from solver.encode.devices.device_contents import add_devices
from solver.encode.node_classes import Classes, NodeClass
from solver.encode.variables import Linear, Loads, Var


class Capacity:
    """
    Counts per (shape, class) for demand without a domain, per (shape, part) within.

    Of these are ``first`` those of entitled pods that must have room now.
    """

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.loose: Loads = {}
        self.scoped: dict[str, dict[tuple[int, int, int], Var]] = {}
        self.touched: dict[int, Var] = {}
        self.first: Loads = {}

    def class_terms(self, at: int) -> dict[int, list[Var]]:
        """
        List the counts of each shape in a class, wherever they are wanted.
        """
        terms: dict[int, list[Var]] = {}
        item = self.classes.items[at]
        for shape in item.shapes:
            found = [self.loose[shape, at]] if (shape, at) in self.loose else []
            for table in self.scoped.values():
                found += [
                    table[shape, at, part]
                    for part in range(len(item.parts))
                    if (shape, at, part) in table
                ]
            if found:
                terms[shape] = found
        return terms

    def part_terms(self, at: int, part: int) -> dict[int, list[Var]]:
        """
        List the scoped counts of each shape in one part of a class.
        """
        terms: dict[int, list[Var]] = {}
        for table in self.scoped.values():
            for shape in self.classes.items[at].shapes:
                if (shape, at, part) in table:
                    terms.setdefault(shape, []).append(table[shape, at, part])
        return terms


def take_no_more(
    model: cp_model.CpModel,
    capacity: Capacity,
    demand: Demand,
    shapes: Container[int] | None = None,
) -> None:
    """
    Ensure that no more places are taken than are wanted, of all shapes or of some.
    """
    wanted: dict[int, Linear] = {}
    for (shape, _), row in demand.sums.items():
        wanted.setdefault(shape, Linear()).extend(row)
    taken: dict[int, list[Var]] = {}
    for at in range(len(capacity.classes.items)):
        for shape, counts in capacity.class_terms(at).items():
            if shapes is None or shape in shapes:
                taken.setdefault(shape, []).extend(counts)
    for shape, counts in taken.items():
        model.add(cp_model.LinearExpr.sum(counts) <= wanted[shape].expression)


def add_capacity(
    model: cp_model.CpModel,
    classes: Classes,
    demand: Demand,
    sizes: Sequence[Linear] | None = None,
) -> Capacity:
    """
    Ensure that classes hold what is wanted and no more than they have.

    With ``sizes`` the rows of a class are those of one node, and how many nodes it has
    is a sum of variables.
    """
    capacity = Capacity(classes)
    _add_loose(model, capacity, demand)
    for topology in sorted({level[0] for level in classes.levels}):
        _add_scoped(model, capacity, demand, topology)
    for at, item in enumerate(classes.items):
        size = None if sizes is None else sizes[at]
        add_class_rows(model, item, capacity.class_terms(at), size)
        _add_devices(model, item, capacity.class_terms(at), size)
        if capacity.scoped and len(item.parts) > 1:
            for index, part in enumerate(item.parts):
                add_class_rows(model, part, capacity.part_terms(at, index))
                _add_devices(model, part, capacity.part_terms(at, index))
    return capacity


def _add_loose(model: cp_model.CpModel, capacity: Capacity, demand: Demand) -> None:
    """
    Ensure that Σ over classes of a shape's counts ≥ the pods wanted anywhere.
    """
    for (shape, place), wanted in demand.sums.items():
        if place[1] is not None:
            continue
        row = []
        for at, item in enumerate(capacity.classes.items):
            if shape in item.shapes:
                upper = min(item.most[item.shapes.index(shape)], wanted.most)
                if upper > 0:
                    count = model.new_int_var(0, upper, "")
                    capacity.loose[shape, at] = count
                    row.append(count)
        model.add(cp_model.LinearExpr.sum(row) >= wanted.expression)


def _add_scoped(
    model: cp_model.CpModel, capacity: Capacity, demand: Demand, topology: str
) -> None:
    """
    Ensure that every domain holds what is wanted in it and in the domains inside it.

    Domains are nested, so these rows are all that is needed to deal places out.
    """
    classes = capacity.classes
    levels = [i for i, level in enumerate(classes.levels) if level[0] == topology]
    wanted = {
        (shape, place): row
        for (shape, place), row in demand.sums.items()
        if place[1] is not None and place[0] in levels
    }
    shapes = sorted({shape for shape, _ in wanted})
    table: dict[tuple[int, int, int], Var] = {}
    capacity.scoped[topology] = table
    for shape in shapes:
        mine = {p: row for (s, p), row in wanted.items() if s == shape}
        most = sum(row.most for row in mine.values())
        _add_parts(model, classes, table, shape, most)
        for level in levels:
            _add_domain_rows(model, classes, table, shape, level, mine)
        row = Linear()
        for extra in mine.values():
            row.extend(extra)
        counts = [v for (s, _, _), v in table.items() if s == shape]
        model.add(cp_model.LinearExpr.sum(counts) >= row.expression)


def _add_parts(
    model: cp_model.CpModel,
    classes: Classes,
    table: dict[tuple[int, int, int], Var],
    shape: int,
    most: int,
) -> None:
    for at, item in enumerate(classes.items):
        if shape not in item.shapes:
            continue
        for index, part in enumerate(item.parts):
            upper = min(part.most[part.shapes.index(shape)], most)
            if upper > 0:
                table[shape, at, index] = model.new_int_var(0, upper, "")


def _add_domain_rows(
    model: cp_model.CpModel,
    classes: Classes,
    table: dict[tuple[int, int, int], Var],
    shape: int,
    level: int,
    wanted: dict[tuple[int, int | None], Linear],
) -> None:
    held: dict[int, list[Var]] = {}
    for (s, at, part), count in table.items():
        if s == shape:
            domain = classes.items[at].parts[part].domains[level]
            held.setdefault(domain, []).append(count)
    asked: dict[int, Linear] = {}
    for (own, cell), row in wanted.items():
        if cell is None or classes.ranks[own] < classes.ranks[level]:
            continue
        domain = -1 if cell < 0 else classes.outer(own, cell, level)
        asked.setdefault(domain, Linear()).extend(row)
    for domain, row in asked.items():
        counts = held.get(domain, [])
        model.add(cp_model.LinearExpr.sum(counts) >= row.expression)


def add_class_rows(
    model: cp_model.CpModel,
    item: NodeClass,
    terms: dict[int, list[Var]],
    size: Linear | None = None,
) -> None:
    """
    Ensure that what a class holds respects its sum rows and floor rows.

    With a ``size`` they are those of one node.
    """
    for row in item.rows:
        variables, coefficients = row_terms(item, row.coefficients, terms)
        if variables:
            body = cp_model.LinearExpr.weighted_sum(variables, coefficients)
            many = 1 if size is None else size.expression
            model.add(body <= row.total * many)


def _add_devices(
    model: cp_model.CpModel,
    item: NodeClass,
    terms: dict[int, list[Var]],
    size: Linear | None = None,
) -> None:
    if item.devices is None:
        return
    places = {shape: at for at, shape in enumerate(item.shapes)}
    counts = {
        places[shape]: cp_model.LinearExpr.sum(found) for shape, found in terms.items()
    }
    add_devices(model, item.devices, counts, None if size is None else size.expression)


def row_terms(
    item: NodeClass, weights: Iterable[int], terms: dict[int, list[Var]]
) -> tuple[list[Var], list[int]]:
    """
    Flatten a row over shapes into variables and coefficients.
    """
    variables: list[Var] = []
    coefficients: list[int] = []
    for shape, weight in zip(item.shapes, weights, strict=True):
        if weight and shape in terms:
            variables += terms[shape]
            coefficients += [weight] * len(terms[shape])
    return variables, coefficients


def add_touched(model: cp_model.CpModel, capacity: Capacity) -> None:
    """
    Ensure that pods lie only on nodes counted as touched: rows with each × touched.
    """
    for at, item in enumerate(capacity.classes.items):
        if at in capacity.touched:
            continue
        rows = list(_held_by_nodes(capacity, at))
        if not rows:
            continue
        touched = model.new_int_var(0, len(item.nodes), "")
        capacity.touched[at] = touched
        for variables, coefficients, each in rows:
            body = cp_model.LinearExpr.weighted_sum(variables, coefficients)
            model.add(body <= each * touched)


def least_touched(
    capacity: Capacity, value: Callable[[Var], int]
) -> Iterator[tuple[Var, int]]:
    """
    Give the fewest nodes that each class's rows allow to be touched by what lies there.
    """
    for at, touched in capacity.touched.items():
        most = len(capacity.classes.items[at].nodes)
        fewest = 0
        for variables, coefficients, each in _held_by_nodes(capacity, at):
            pairs = zip(variables, coefficients, strict=True)
            body = sum(value(variable) * weight for variable, weight in pairs)
            if body > 0:
                fewest = max(fewest, -(-body // each) if each > 0 else most)
        yield touched, min(fewest, most)


def _held_by_nodes(
    capacity: Capacity, at: int
) -> Iterator[tuple[list[Var], list[int], int]]:
    """
    List sums over a class that so many touched nodes hold so many times.
    """
    item = capacity.classes.items[at]
    terms = capacity.class_terms(at)
    if not terms:
        return
    for row in item.rows:
        variables, coefficients = row_terms(item, row.coefficients, terms)
        if variables:
            yield variables, coefficients, row.each
    for shape, counts in terms.items():
        total = item.most[item.shapes.index(shape)]
        each = -(-total // len(item.nodes)) if item.uniform else total
        for count in counts:
            yield [count], [1], each
