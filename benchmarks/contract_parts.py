"""
What several kinds of rows are written with: the strict record and the cluster.

It holds no row and reads no file.
"""

from pydantic import BaseModel, ConfigDict

Weights = dict[int, float]
Ratio = tuple[int, int]


class Part(BaseModel):
    """
    The rules every part of a contract keeps: frozen, and nothing unknown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


class Cluster(Part):
    """
    Equal nodes; ``domains`` gives the nodes per domain, the outermost level first.
    """

    nodes: int
    allocatable: dict[str, str | int]
    domains: dict[str, int] = {}
