"""
The flags of `phalanx run`, which `phalanx config show` takes too.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer

from models.dialects import DialectChoice


def _text(flag: str, meta: str, words: str) -> Any:  # noqa: ANN401 - of the parser
    return typer.Option(flag, metavar=meta, help=words)


Config = Annotated[
    str | None, _text("--config", "FILE", "A file of settings, kind Config.")
]
Kubeconfig = Annotated[
    str | None, _text("--kubeconfig", "FILE", "Where the API server is.")
]
Context = Annotated[
    str | None, _text("--context", "NAME", "Which entry of the kubeconfig.")
]
Namespace = Annotated[
    str | None, _text("--namespace", "NAME", "Where the Lease and the intent are.")
]
Shard = Annotated[
    str | None, _text("--shard", "NAME", "Which of several schedulers this is.")
]
Pool = Annotated[
    str | None,
    _text("--node-pool", "KEY=VALUE", "The label of the nodes and pods it plans."),
]
Names = Annotated[
    list[str] | None,
    _text("--scheduler-name", "NAME", "Whose pods it plans; may be repeated."),
]
Dialects = Annotated[
    list[str] | None,
    _text("--dialect", "NAME=WORD", f"How words are read: {', '.join(DialectChoice)}."),
]
Interval = Annotated[
    float | None, _text("--interval", "S", "Between looks at a quiet cluster.")
]
Elect = Annotated[
    bool | None,
    typer.Option("--leader-elect/--no-leader-elect", help="Lead only with the Lease."),
]
Observe = Annotated[
    bool | None,
    typer.Option(
        "--observe",
        help="Plan beside another scheduler, and write nothing to the cluster.",
    ),
]
Listen = Annotated[
    str | None, _text("--listen", "HOST:PORT", "Where health and metrics are.")
]
LogFormat = Annotated[
    str | None, _text("--log-format", "json|text", "How the log is written.")
]
Folder = Annotated[
    str | None, _text("--folder", "DIR", "Where bundles and records are kept.")
]


_SHARED: Mapping[str, Any] = {
    "kubeconfig": Kubeconfig,
    "context": Context,
    "namespace": Namespace,
    "shard": Shard,
    "node_pool": Pool,
    "scheduler_name": Names,
    "dialect": Dialects,
    "interval": Interval,
    "leader_elect": Elect,
    "observe": Observe,
    "listen": Listen,
    "log_format": LogFormat,
    "folder": Folder,
}
_SETTINGS = {
    "node_pool": "nodePool",
    "scheduler_name": "schedulerNames",
    "dialect": "dialects",
    "leader_elect": "leaderElect",
    "log_format": "logFormat",
}


def takes_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """
    Give a command the flags of ``run`` in place of its parameter ``said``.

    It gets them as the settings they set; one that was not given sets nothing.
    """

    @wraps(command)
    def taking(**words: Any) -> None:  # noqa: ANN401 - flags of many types
        flags = {name: words.pop(name) for name in _SHARED}
        flags["observe"] = flags["observe"] or None  # a flag that has no opposite
        command(**words, said=_said(flags))

    own = signature(command, eval_str=True).parameters
    parameters = []
    for name, parameter in own.items():
        if name != "said":
            parameters.append(parameter)
            continue
        parameters += [
            Parameter(flag, Parameter.KEYWORD_ONLY, default=None, annotation=option)
            for flag, option in _SHARED.items()
        ]
    taking.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(taking)["__signature__"] = Signature(parameters)
    return taking


def _said(flags: Mapping[str, object]) -> dict[str, object]:
    return {
        _SETTINGS.get(name, name): tuple(value) if isinstance(value, list) else value
        for name, value in flags.items()
        if value is not None and value != []
    }
