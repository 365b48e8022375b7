"""
Numbers as people read them, and axes that count in units of theirs.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from adapters.reports.charts.charts import Axis
from adapters.reports.page.page import Cell
from models.devices.gpu_counts import shown_gpus
from models.errors import printable
from models.why.reasons import counted

MINUTE, HOUR, DAY = 60, 3_600, 86_400
NOTHING = "–"
SPACE = "\N{NO-BREAK SPACE}"
"""
Stands between a number and its unit.
"""

_DIGITS = re.compile(r"(\d+)")
_STEPS = (
    *((1, "1 s"), (10, "10 s"), (60, "1 min"), (600, "10 min"), (3_600, "1 h")),
    *((6 * HOUR, "6 h"), (DAY, "1 day"), (7 * DAY, "1 week"), (28 * DAY, "4 weeks")),
)


def span(seconds: float | None) -> str:
    """
    Write a duration with its two largest units: ``7h51m``.
    """
    if seconds is None:
        return NOTHING
    sign, whole = ("−" if seconds < 0 else ""), abs(seconds)
    if whole < 0.0005:
        return f"0{SPACE}s"
    if whole < 9.95:
        return f"{sign}{whole:.2g}{SPACE}s"
    return f"{sign}{_whole_span(round(whole))}"


def _whole_span(total: int) -> str:
    if total < MINUTE:
        return f"{total}{SPACE}s"
    if total < HOUR:
        return f"{total // MINUTE}m{total % MINUTE:02d}s"
    if total < DAY:
        return f"{total // HOUR}h{total % HOUR // MINUTE:02d}m"
    return f"{total // DAY:,}d{total % DAY // HOUR:02d}h"


def period(seconds: float) -> str:
    """
    Write a length of time that somebody chose: 5 minutes, 1 hour.
    """
    for name, unit in (("day", DAY), ("hour", HOUR), ("minute", MINUTE)):
        if seconds >= unit and not seconds % unit:
            return counted(round(seconds / unit), name)
    return span(seconds)


def short_time(measured: float) -> str:
    """
    Write a time that a machine took: milliseconds below a tenth of a second.
    """
    if measured < 0.0995:
        return (
            f"{1000 * measured:.1f}{SPACE}ms"
            if measured < 0.00995
            else (f"{1000 * measured:.0f}{SPACE}ms")
        )
    return f"{measured:.2f}{SPACE}s" if measured < 100 else span(measured)


def share(part: float | None, digits: int = 1) -> str:
    """
    Write a part of one in percent.
    """
    return NOTHING if part is None else f"{100 * part:,.{digits}f}{SPACE}%"


def amount(value: float | None) -> str:
    """
    Write a number with as many digits as it is worth.
    """
    if value is None:
        return NOTHING
    if float(value).is_integer():
        return f"{round(value):,}".replace("-", "−")
    digits = 1 if abs(value) >= 100 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}".replace("-", "−")


def time_axis(low: float, high: float, title: str) -> tuple[Axis, float]:
    """
    Make an axis of time, and give the seconds of its unit.
    """
    length = high - low
    name, unit = "minutes", MINUTE
    if length > 3 * DAY:
        name, unit = "days", DAY
    elif length > 3 * HOUR:
        name, unit = "hours", HOUR
    axis = Axis(title=f"{title}, {name}", low=low / unit, high=high / unit)
    return axis, float(unit)


def wait_axis(values: Sequence[float], title: str) -> tuple[Axis, float]:
    """
    Make an axis of waits by powers, and give its floor: what is shorter lies on it.
    """
    positive = [value for value in values if value > 0]
    top = max(positive, default=600.0)
    floor = max(1.0, min(min(positive, default=1.0), top / 10))
    below = [at for at, _ in _STEPS if at <= floor]
    low = float(below[-1] if below else 1)
    above = [at for at, _ in _STEPS if at >= top]
    high = float(above[0] if above else top)
    ticks = [(float(at), text) for at, text in _STEPS if low <= at <= high]
    ticks[0] = (ticks[0][0], f"≤ {ticks[0][1]}")
    return Axis(title=title, ticks=ticks, low=low, high=high, is_log=True), low


def power_axis(
    values: Sequence[float], title: str, unit: str = ""
) -> tuple[Axis, float]:
    """
    Make an axis of numbers by powers of ten, and give its floor.
    """
    positive = [value for value in values if value > 0]
    first = math.floor(math.log10(min(positive, default=1.0)))
    last = max(math.ceil(math.log10(max(positive, default=10.0))), first + 1)
    tail = f" {unit}" if unit else ""
    ticks = [(10.0**at, f"{_plain(at)}{tail}") for at in range(first, last + 1)]
    low, high = 10.0**first, 10.0**last
    return Axis(title=title, ticks=ticks, low=low, high=high, is_log=True), low


def _plain(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:.{-power}f}"


def count_axis(most: float, title: str) -> Axis:
    """
    Make an axis of whole numbers, from nothing to the largest.
    """
    step = 10 ** math.floor(math.log10(max(1.0, most)))
    for size in (step // 5, step // 2, step, 2 * step):
        if size >= 1 and most / size <= 6:
            step = size
            break
    ticks = [
        (float(at * step), f"{at * step:,}") for at in range(int(most // step) + 1)
    ]
    return Axis(title=title, ticks=ticks, low=0, high=float(max(most, 1)))


def short_names(names: Sequence[str]) -> list[str]:
    """
    Shorten names for a chart to their last parts, as far as they stay different.
    """
    clean = [drawable(name) for name in names]
    last = [_last_part(name) for name in clean]
    known = Counter(last)
    short = [a if known[a] == 1 else b for a, b in zip(last, clean, strict=True)]
    seen: Counter[str] = Counter()
    out = []
    for name in short:
        seen[name] += 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def drawable(name: str) -> str:
    """
    Write a name so that it can be drawn.

    The drawer cuts long names in the middle of a sign that takes two units of UTF-16,
    and then fails; such signs, emoji above all, become a box.
    """
    return "".join(sign if ord(sign) < 2**16 else "▯" for sign in printable(name))


def _last_part(name: str) -> str:
    part = name.rstrip("/").rpartition("/")[2]
    for end in (".yaml", ".yml", ".json"):
        part = part.removesuffix(end)
    return part or name


def natural(name: str) -> list[tuple[int, int, str]]:
    """
    Give what names are sorted by, so that n2 comes before n10.
    """
    return [
        (0, int(part[:18]), "") if part.isdecimal() and part.isascii() else (1, 0, part)
        for part in _DIGITS.split(name)
    ]


# --- cells -----------------------------------------------------------------------


def number(value: float) -> Cell:
    """
    Make a cell of a number.
    """
    return Cell(amount(value), float(value))


def gpus(value: float) -> Cell:
    """
    Make a cell of a number of GPUs.
    """
    return Cell(shown_gpus(value), float(value))


def seconds(value: float | None) -> Cell:
    """
    Make a cell of a time that was measured.
    """
    return Cell(NOTHING) if value is None else Cell(short_time(value), value)
