import pytest

from tests.adapters.kube.api_server import GROUPS, NODES, PODS, ApiServer
from tests.adapters.kube.following import transport_to


@pytest.fixture
def server():
    with ApiServer(PODS, NODES, GROUPS) as server:
        yield server


@pytest.fixture
def transport(tmp_path, server):
    transport = transport_to(tmp_path, server)
    yield transport
    transport.close()
