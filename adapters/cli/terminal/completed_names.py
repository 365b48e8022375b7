"""
Names that a shell completes: of gangs, queues and nodes, in files or in the cluster.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stderr
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models.snapshot import Snapshot

KINDS = ("gang", "queue", "node")
PLURALS = {"gangs": "gang", "queues": "queue", "nodes": "node"}
Offer = Callable[[Any, object, str], list[str]]


def offering_names(kind: str) -> Offer:
    """
    Offer the names of things of a kind.
    """

    def offered(context: Any, _parameter: object, begun: str) -> list[str]:  # noqa: ANN401 - click's own
        return _beginning(begun, _names(kind, context.params))

    return offered


def offering_words(kinds: Iterable[str]) -> Offer:
    """
    Offer a kind as the first word, and names of that kind as the second.
    """

    def offered(context: Any, _parameter: object, begun: str) -> list[str]:  # noqa: ANN401 - click's own
        said = list(context.params.get("words") or ())
        if not said:
            return _beginning(begun, kinds)
        kind = PLURALS.get(said[0], said[0])
        if len(said) > 1 or kind not in kinds:
            return []
        return _beginning(begun, _names(kind, context.params))

    return offered


def _beginning(begun: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(begun)]


def _names(kind: str, options: Mapping[str, Any]) -> list[str]:
    """
    List names; none where nothing can be read, for a shell shows no error.
    """
    from models.errors import PhalanxError

    try:
        with redirect_stderr(StringIO()):
            snapshot = _snapshot(options)
    except (PhalanxError, OSError):
        return []
    match kind:
        case "gang":
            return _of_gangs([gang.key for gang in snapshot.gangs])
        case "queue":
            return [queue.name for queue in snapshot.queues]
        case _:
            return [node.name for node in snapshot.nodes]


def _of_gangs(keys: list[str]) -> list[str]:
    """
    Give the names that only one gang has, and all names with their namespaces.
    """
    bare = [key.rpartition("/")[2] for key in keys]
    return sorted({name for name in bare if bare.count(name) == 1}) + sorted(keys)


def _snapshot(options: Mapping[str, Any]) -> "Snapshot":
    from adapters.cli.views.listed_source import where_of

    schedulers = options.get("scheduler_name")
    where = where_of(
        options.get("file"),
        list(schedulers or ()),
        options.get("kubeconfig"),
        options.get("context") or options.get("kube_context"),
    )
    if where.files:
        from adapters.files import read_scenarios

        return read_scenarios(where.files, where.schedulers).snapshot
    with where.cluster().followed() as here:
        return here.source.snapshot()
