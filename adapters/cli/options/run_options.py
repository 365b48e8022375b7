"""
The flags of `phalanx run`, which `phalanx config show` takes too.
"""

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
        help="Write nothing to the cluster: keep what would start beside what does.",
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


def said(**flags: object) -> dict[str, object]:
    """
    Name flags as the settings they set; one that was not given sets nothing.
    """
    known = {name: value for name, value in flags.items() if value is not None}
    return {
        _ALIASES.get(name, name): tuple(value) if isinstance(value, list) else value
        for name, value in known.items()
        if value != []
    }


_ALIASES = {
    "node_pool": "nodePool",
    "scheduler_name": "schedulerNames",
    "dialect": "dialects",
    "leader_elect": "leaderElect",
    "log_format": "logFormat",
}
