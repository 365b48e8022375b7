"""
Switches: a function, method, constant or table entry exchanged for a while.

A target is named ``module:name``, ``module:Class.name`` or ``module:TABLE[key]``.
What is gone fails loudly, so no fault can fade away with the code it spoils.
"""

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from unittest import mock

import solver
from benchmarks.tuning import tuned

# A module imported for the first time while a switch is flipped would keep it.
for _each in pkgutil.walk_packages(solver.__path__, "solver."):
    importlib.import_module(_each.name)

Change = Callable[[object], object]
Switch = Callable[[], AbstractContextManager[None]]
JUDGES = ("solver.verify", "exact")


def switch(target: str, change: Change) -> Switch:
    """
    Exchange a target for what ``change`` makes of it.

    A function is exchanged in every module that imported it, except in verify and in
    the oracle: what judges a plan stays as it is.
    """

    @contextmanager
    def apply() -> Iterator[None]:
        path, name = target.split(":")
        module = importlib.import_module(path)
        with ExitStack() as stack:
            if "[" in name:
                table, key = name.removesuffix("]").split("[")
                entries = getattr(module, table)
                new = {key: change(entries[key])}
                stack.enter_context(mock.patch.dict(entries, new))
            elif "." in name:
                owner, attribute = name.split(".")
                kind = getattr(module, owner)
                new = change(vars(kind)[attribute])
                stack.enter_context(mock.patch.object(kind, attribute, new))
            else:
                old = vars(module)[name]
                new = change(old)
                for holder in _holders(name, old):
                    stack.enter_context(mock.patch.object(holder, name, new))
            yield

    return apply


def _holders(name: str, value: object) -> list[object]:
    return [
        module
        for path, module in sorted(sys.modules.items())
        if path.startswith(("solver.", "models.", "adapters.kube.gangs."))
        and not path.startswith(JUDGES)
        and vars(module).get(name) is value
    ]


def during(target: str, other: Switch) -> Switch:
    """
    Flip another switch, but only while the target runs.
    """

    def change(old):
        def run(*args, **kwargs):
            with other():
                return old(*args, **kwargs)

        return run

    return switch(target, change)


def both(*switches: Switch) -> Switch:
    """
    Flip several switches as one.
    """

    @contextmanager
    def apply() -> Iterator[None]:
        with ExitStack() as stack:
            for each in switches:
                stack.enter_context(each())
            yield

    return apply


def always(value: object) -> Change:
    """
    Change a function into one that answers the same whatever it is asked.
    """
    return lambda _old: lambda *_args, **_kwargs: value


def becomes(value: object) -> Change:
    """
    Change a constant.
    """
    return lambda _old: value


def number(name: str, value: object) -> Switch:
    """
    Change a number of the search.
    """
    change = partial(tuned, name=name, value=value)
    return switch("solver.problem.problem:DEFAULT", change)


def once(*switches: Switch) -> Switch:
    """
    Flip switches where a round is not planned again for what the next one would evict.

    The second plan would make up for some mistakes of the first.
    """
    return both(number("search.most_short_lived", 0), *switches)


def frozen_first(*switches: Switch) -> Switch:
    """
    Flip switches where what the steps froze first stands, whatever follows from it.
    """
    return both(number("search.most_open_cells", 0), *switches)


def asked(*switches: Switch) -> Switch:
    """
    Flip switches where the model is asked though GPUs that are added up would answer.
    """
    return both(
        switch("solver.score.still_possible:nearer_bounds", _as_they_were),
        switch("solver.score.gpu_sums:with_room_beside", _with_all),
        *switches,
    )


def _as_they_were(_old: object) -> Callable[..., object]:
    return lambda _problem, _keys, _values, bounds: [*bounds]


def _with_all(_old: object) -> Callable[..., object]:
    return lambda problem, _draft: problem


def seeing(**changes: Callable[[object], object]) -> Change:
    """
    Change a function so that it sees other arguments, by their position.
    """
    places = {int(key.removeprefix("at")): change for key, change in changes.items()}

    def change(old):
        def run(*args, **kwargs):
            seen = [
                places[i](arg) if i in places else arg for i, arg in enumerate(args)
            ]
            return old(*seen, **kwargs)

        return run

    return change


def saying(change: Callable[..., object]) -> Change:
    """
    Change what a function answers, given its answer and its arguments.
    """
    return lambda old: lambda *args, **kwargs: change(old(*args, **kwargs), *args)
