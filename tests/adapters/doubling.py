"""
Work for tests of the fan-out: it travels to other processes by its name.
"""


def double(value: int) -> int:
    return 2 * value


def broken(value: int) -> int:
    raise ValueError(f"broken by {value}")
