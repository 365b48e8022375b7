"""
Who we are and where the API server is: a kubeconfig, or the pod we run in.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from adapters.kube.api.client import Timeouts, Transport
from adapters.kube.api.connection import Connections
from adapters.kube.api.direct import direct_to
from adapters.kube.api.errors import KubeconfigError
from adapters.kube.api.pooled import Pooled
from models.errors import printable

AGENT = "phalanx"
_IN_CLUSTER = "KUBERNETES_SERVICE_HOST"


def connect(
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    connections: int = 64,
    timeouts: Timeouts | None = None,
) -> Transport:
    """
    Make a transport: of the file named, else of ``KUBECONFIG``, the home, the pod.

    ``connections`` are kept open by the client's pool, where requests go over it: one
    per watched resource and some for binding.
    """
    from kubernetes.client.configuration import Configuration  # noqa: PLC0415
    from kubernetes.client.rest import RESTClientObject  # noqa: PLC0415

    configuration = Configuration()
    _load(configuration, kubeconfig, context)
    configuration.connection_pool_maxsize = connections
    configuration.retries = False  # ours: urllib3 would sleep where nobody sees it
    server = str(configuration.host).rstrip("/")
    line: Connections | None = direct_to(configuration)
    if line is None:
        line = Pooled(server, RESTClientObject(configuration).pool_manager)
    return Transport(
        server,
        line,
        _headers_of(configuration),
        timeouts or Timeouts(),
        renew=lambda: _load(configuration, kubeconfig, context),
    )


def _load(configuration: Any, kubeconfig: str | None, context: str | None) -> None:
    from kubernetes import config  # noqa: PLC0415
    from yaml import YAMLError  # noqa: PLC0415

    inside = kubeconfig is None and not _default_exists()
    try:
        if inside and os.environ.get(_IN_CLUSTER):
            config.load_incluster_config(configuration)
        else:
            config.load_kube_config(
                kubeconfig or os.environ.get("KUBECONFIG"),
                context,
                configuration,
                persist_config=False,
            )
    except (config.ConfigException, YAMLError, OSError, ValueError, TypeError) as error:
        where = kubeconfig or "KUBECONFIG or ~/.kube/config"
        raise KubeconfigError(
            f"cannot read the kubeconfig ({printable(where)}): {printable(str(error))}"
        ) from error


def _default_exists() -> bool:
    """
    Tell whether one of the files that clients read by default is there.
    """
    named = os.environ.get("KUBECONFIG")
    paths = named.split(os.pathsep) if named else ["~/.kube/config"]
    return any(path and Path(path).expanduser().is_file() for path in paths)


def _headers_of(configuration: Any) -> Callable[[], Mapping[str, str]]:
    """
    Give the headers of each request; the client renews tokens when they are asked for.
    """

    def headers() -> Mapping[str, str]:
        given = {"User-Agent": AGENT}
        for setting in configuration.auth_settings().values():
            if setting["value"]:
                given[setting["key"]] = setting["value"]
        return given

    return headers
