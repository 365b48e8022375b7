"""
The GPUs of a node as a row of cells, and who is on which.
"""

from adapters.cli.terminal.output import Table
from adapters.inventory.devices import DeviceRow
from adapters.inventory.nodes import NodeRow
from models.resources import SHARES_PER_GPU

_WIDE = 6
_EIGHTHS = ("", *"▏▎▍▌▋▊▉")


def device_lines(row: NodeRow) -> list[str]:
    """
    Lay out the GPUs of a node, where it is known who has parts of them.
    """
    if not row.devices:
        return []
    numbers = "".join(f" {one.device:<{_WIDE}}" for one in row.devices)
    table = Table(
        ("GPU", "STATE", "LEFT", "WHO"),
        [(str(x.device), x.state, x.left, _who(x)) for x in row.devices],
        frozenset({0}),
    )
    return [
        "",
        f"GPUs         │{'│'.join(map(_cell, row.devices))}│",
        f"             {numbers}".rstrip(),
        "",
        *table.lines(),
        *_unnamed(row),
    ]


def _cell(row: DeviceRow) -> str:
    """
    Draw which part of a GPU is taken.
    """
    eighths = min(8 * _WIDE, -(-8 * _WIDE * row.shares // SHARES_PER_GPU))
    return f"{'█' * (eighths // 8)}{_EIGHTHS[eighths % 8]}".ljust(_WIDE)


def _who(row: DeviceRow) -> str:
    return ", ".join(f"{who} ({what})" for who, what in row.users)


def _unnamed(row: NodeRow) -> list[str]:
    """
    Say how many of the idle GPUs are whole in pods that do not say which they have.
    """
    named = sum(one.shares for one in row.devices) / SHARES_PER_GPU
    whole = round(row.gpus_used - named)
    if whole < 1:
        return []
    noun = "GPU is" if whole == 1 else "GPUs are"
    return [f"{whole} more {noun} in use; which ones is not said"]
