"""
What is written into a claim that gets devices: results, configurations, the node.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.kube.claims.device_items import AskedItem, items_of
from adapters.kube.claims.device_reader import MILLI, Amounts
from adapters.kube.claims.device_requests import (
    ClaimSpec,
    DeviceAsk,
    Request,
)
from adapters.kube.claims.node_bins import Chosen, Way
from adapters.kube.objects.fields import Json

_Taken = tuple[Request, Chosen]


def allocation(
    spec: ClaimSpec, ways: Sequence[Way], node: str, share: Callable[[], str]
) -> dict[str, Any]:
    """
    Write the allocation of a claim on a node; ``share`` gives an id for each share.
    """
    taken = list(_taken(items_of(spec), ways))
    order = [request.name for request in spec.requests]
    taken.sort(key=lambda each: order.index(each[0].name))
    results = [_result(chosen, share) for _, chosen in taken]
    devices: dict[str, Any] = {"results": results}
    if config := list(_configured(spec, taken)):
        devices["config"] = config
    name = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = [{"matchFields": [name]}]
    return {"devices": devices, "nodeSelector": {"nodeSelectorTerms": terms}}


def _taken(asked: Sequence[AskedItem], ways: Sequence[Way]) -> Iterator[_Taken]:
    """
    Say which request each device is for.
    """
    left = iter(ways)
    for each in asked:
        for _ in range(each.times):
            for chosen in next(left).chosen:
                request = each.requests[chosen.part]
                own = next(ask for ask in request.asks if ask == chosen.ask)
                yield request, replace(chosen, ask=own)


def _result(chosen: Chosen, share: Callable[[], str]) -> dict[str, Any]:
    driver, pool, device = chosen.device.name
    found: dict[str, Any] = {
        "request": chosen.ask.called,
        "driver": driver,
        "pool": pool,
        "device": device,
    }
    if chosen.ask.tolerations:
        found["tolerations"] = list(_tolerations(chosen.ask))
    if chosen.consumed is not None:
        found["shareID"] = share()
        found["consumedCapacity"] = _amounts(chosen.consumed)
    return found


def _tolerations(ask: DeviceAsk) -> Iterator[Mapping[str, Any]]:
    for each in ask.tolerations:
        said = {
            "key": each.key,
            "operator": each.operator,
            "value": each.value,
            "effect": each.effect,
            "tolerationSeconds": each.seconds,
        }
        yield {key: value for key, value in said.items() if value not in {"", None}}


def _amounts(consumed: Amounts) -> dict[str, str]:
    return {
        name: f"{amount}m" if amount % MILLI else str(amount // MILLI)
        for name, amount in consumed
    }


def _configured(spec: ClaimSpec, taken: Sequence[_Taken]) -> Iterator[dict[str, Any]]:
    """
    Walk the configurations of classes, then those of the claim that concern a request.
    """
    called: dict[str, DeviceAsk] = {
        chosen.ask.called: chosen.ask for _, chosen in taken
    }
    classes: dict[str, list[DeviceAsk]] = {}
    for ask in called.values():
        classes.setdefault(ask.device_class.name, []).append(ask)
    for asks in classes.values():
        for config in asks[0].device_class.config:
            requests = [ask.called for ask in asks]
            yield _config(config, "FromClass", requests, len(called))
    known = {request.name for request in spec.requests} | called.keys()
    for config in spec.config:
        requests = [name for name in config.get("requests") or () if name in known]
        if requests or not config.get("requests"):
            said = list(config.get("requests") or ())
            yield _config(config, "FromClaim", said, len(called))


def _config(
    config: Json, source: str, requests: Sequence[str], everything: int
) -> dict[str, Any]:
    """
    Write one configuration; one of all requests names none.
    """
    found: dict[str, Any] = {"source": source}
    if len(requests) < everything:
        found["requests"] = [*requests]
    return found | ({"opaque": config["opaque"]} if "opaque" in config else {})
