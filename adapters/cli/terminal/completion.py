"""
What a shell completes behind an option: the words that its help lists.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import typer
from typer.core import TyperGroup, TyperOption

from adapters.cli.app import app

VARIABLE = "_PHALANX_COMPLETE"
"""
Set by the script of the shell; its value says which shell asks.
"""
_LISTED = re.compile(r"[a-z][\w-]*(?:\|[a-z][\w-]*)*")


def complete(name: str) -> None:
    """
    Answer the shell, and end.
    """
    command = typer.main.get_command(app)
    for each in _commands(command):
        for option in each.params:
            if isinstance(option, TyperOption) and (words := _words(option)):
                option._custom_shell_complete = _offering(words)  # noqa: SLF001
    command(args=[], prog_name=name)


def _commands(command: Any) -> Iterator[Any]:  # noqa: ANN401 - typer's own kind
    yield command
    if isinstance(command, TyperGroup):
        for inner in command.commands.values():
            yield from _commands(inner)


def _words(option: TyperOption) -> Callable[[], Sequence[str]] | None:
    """
    Say how to list the words that an option takes, where they can be listed.
    """
    if "--reason" in option.opts:
        return _reasons
    if "--strategy" in option.opts and option.multiple:
        return _strategies
    listed = option.metavar or ""
    return partial(listed.split, "|") if _LISTED.fullmatch(listed) else None


def _reasons() -> Sequence[str]:
    from models.reasons import Reason

    return [reason.value for reason in Reason]


def _strategies() -> Sequence[str]:
    from adapters.replay.players import STRATEGIES

    return list(STRATEGIES)


def _offering(
    words: Callable[[], Sequence[str]],
) -> Callable[[object, object, str], list[str]]:
    def offered(_context: object, _option: object, begun: str) -> list[str]:
        return [word for word in words() if word.startswith(begun)]

    return offered
