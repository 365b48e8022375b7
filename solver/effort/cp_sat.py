"""
The way to OR-Tools: its models and parameters, without the tables it never fills.

OR-Tools imports pandas to name the types of variables made as series: 0.3 s
in each command, and none is made so here.  While it is imported, two empty types
stand for those; whoever imports pandas afterwards gets pandas.
"""

import sys
from contextlib import suppress
from importlib import import_module
from types import ModuleType

if not {"pandas", "ortools.sat.python.cp_model"} & sys.modules.keys():
    sys.modules["pandas"] = ModuleType("pandas")
    vars(sys.modules["pandas"]).update(
        Index=type("Index", (), {}), Series=type("Series", (), {})
    )
    # A release that needs more of pandas gets it whole, below.
    with suppress(AttributeError):
        import_module("ortools.sat.python.cp_model")
    del sys.modules["pandas"]

from ortools.sat.python import cp_model
from ortools.sat.python.cp_model_helper import SatParameters

__all__ = ["PlainModel", "SatParameters", "cp_model", "linear_solver"]


class PlainModel(cp_model.CpModel):
    """
    A model without the older names of its methods: giving it these takes 0.7 ms.
    """

    def _add_pre_pep8_methods(self) -> None:
        pass


def linear_solver() -> ModuleType:
    """
    Give the solvers of linear programs, which few rounds need.
    """
    return import_module("ortools.linear_solver.pywraplp")
