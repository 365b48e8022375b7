from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

import pytest

from adapters.kube.api.client import Transport
from adapters.kube.api.connect import connect
from adapters.kube.api.errors import AnswerError, ConflictError
from tests.cluster.binaries import NoControlPlaneError, found, must_run
from tests.cluster.control_plane import ControlPlane
from tests.cluster.crds import definitions, owners
from tests.helpers.eventually import eventually


@contextmanager
def started() -> Iterator[ControlPlane]:
    """
    A control plane of one's own, or the sentence that says why there is none.
    """
    try:
        binaries = found()
    except NoControlPlaneError as error:
        if must_run():
            pytest.fail(f"the cluster tests must run in CI: {error}", pytrace=False)
        pytest.skip(str(error))
    with ControlPlane(binaries) as control_plane:
        yield control_plane


@dataclass(frozen=True, slots=True)
class Fresh:
    """
    A server with nothing on it but the kinds that are read: who asks, and what creates.
    """

    plane: ControlPlane
    admin: Transport
    apply: Callable[[dict], dict]


@pytest.fixture(scope="module")
def fresh():
    """
    A server for one module alone, on which nobody else leaves anything.
    """
    with started() as plane:
        admin = connect(plane.kubeconfig("admin"))
        apply = applier(admin)
        install(admin, apply, [*definitions(), *owners()])
        yield Fresh(plane, admin, apply)
        admin.close()


@pytest.fixture(scope="session")
def control_plane():
    with started() as control_plane:
        yield control_plane


@pytest.fixture(scope="session")
def admin(control_plane):
    transport = connect(control_plane.kubeconfig("admin"))
    yield transport
    transport.close()


@pytest.fixture(scope="session")
def apply(admin):
    return applier(admin)


def applier(admin):
    """
    Give a function that creates a manifest, with its namespace and its status.
    """

    def applied(raw: dict) -> dict:
        meta = raw["metadata"]
        inside = ""
        if space := meta.get("namespace"):
            ensure(space)
            inside = f"/namespaces/{space}"
        path = f"{root_of(raw)}{inside}/{plural_of(raw['kind'])}"
        made = admin.call("POST", path, raw)
        if "status" in raw:
            own = f"{path}/{quote(meta['name'])}"
            try:
                return admin.call("PATCH", f"{own}/status", {"status": raw["status"]})
            except AnswerError as error:
                if error.status != 404:
                    raise
                return admin.call("PATCH", own, {"status": raw["status"]})
        return made

    def ensure(space: str) -> None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}
        try:
            admin.call("POST", "/api/v1/namespaces", body)
        except ConflictError:
            return

    return applied


@pytest.fixture(scope="session")
def installed(admin, apply):
    """
    All kinds of the systems that we read, established.
    """
    install(admin, apply, definitions())


def install(admin, apply, raws):
    """
    Add definitions, and wait until the server serves them.
    """
    from tests.helpers.eventually import eventually

    for raw in raws:
        apply(raw)
    for raw in raws:
        spec = raw["spec"]
        place = f"/apis/{spec['group']}/{spec['versions'][0]['name']}"
        plural = spec["names"]["plural"]
        eventually(lambda at=f"{place}/{plural}": _answers(admin, at), 30.0)


def _answers(transport, path: str) -> bool:
    try:
        transport.call("GET", path)
    except AnswerError:
        return False
    return True


def root_of(raw: dict) -> str:
    version = raw["apiVersion"]
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def plural_of(kind: str) -> str:
    lower = kind.lower()
    if lower.endswith("y"):
        return f"{lower[:-1]}ies"
    return f"{lower}es" if lower.endswith("s") else f"{lower}s"


@pytest.fixture(scope="session")
def whole_stage(control_plane, installed):
    from tests.cluster.stage import Stage

    stage = Stage(control_plane)
    yield stage
    stage.close()


@pytest.fixture
def stage(whole_stage):
    """
    A cluster without nodes, pods, groups, queues and leaders.
    """
    whole_stage.clear()
    return whole_stage


@pytest.fixture
def scheduler(stage, tmp_path):
    """
    `phalanx run` beside a kubelet, once it has planned its first round.
    """
    from tests.cluster.stage import Kubelet, Scheduler

    with Kubelet(stage), Scheduler(stage, folder=tmp_path) as scheduler:
        eventually(lambda: scheduler.events("round_planned"))
        try:
            yield scheduler
        finally:
            print(scheduler.said()[-6000:])
