"""
Usage: what queues used beyond their quotas, counted in hours, the older the less.

An amount is in millionths of a resource's unit for an hour, so that seconds of one GPU
count, and integers alone say how fair shares are divided.
"""

from decimal import Decimal, localcontext

from models.errors import QuantityError
from models.resources import (
    CPU,
    GPU_SHARE,
    LARGEST_TOTAL,
    SHARES_PER_GPU,
    read_number,
)

MILLIONTHS = 10**6
_LN_2 = Decimal("0.693147180559945309417232121458176568")
_DIGITS = 34


def parse_usage(resource: str, text: str | float) -> int:
    """
    Read GPU-hours, or hours of any resource, in millionths rounded down.
    """
    number = read_number(text)
    scale = 1000 if resource == CPU else 1
    if number < 0:
        raise QuantityError(f"{text!r:.60} is negative")
    if number * scale > LARGEST_TOTAL:
        raise QuantityError(f"{text!r:.60} is too much")
    with localcontext() as context:
        context.prec = _DIGITS
        return int(number * scale * MILLIONTHS)


def format_usage(resource: str, amount: int) -> str:
    """
    Write usage as hours, as it is read.
    """
    unit = {CPU: 1000, GPU_SHARE: SHARES_PER_GPU}.get(resource, 1)
    scale = MILLIONTHS * unit
    with localcontext() as context:
        context.prec = _DIGITS
        return f"{Decimal(amount) / scale:f}"


def used_later(before: int, amount: int, seconds: float, half_life: int) -> int:
    """
    Give the usage after some time in which so much was used all along.

    What was used counts half after each half-life: u × d + amount × (1 - d) × half-life
    ÷ ln 2, where d is 2 to the power of -time ÷ half-life; rounded to the nearest.
    """
    if seconds <= 0 or not (before or amount):
        return before
    with localcontext() as context:
        context.prec = _DIGITS
        left = Decimal(2) ** (-Decimal(seconds) / half_life)
        hours = (1 - left) * half_life / _LN_2 / 3600
        return round(before * left + amount * MILLIONTHS * hours)
