"""
Pods whose volumes are not there, or closed to them, wait for them.
"""

import pytest

from tests.helpers.kube.manifests import (
    obj,
    pod,
    refusal,
)


def claim(name="data", **spec):
    return obj("v1", "PersistentVolumeClaim", name, "default", spec=spec)


def volume(**spec):
    return obj("v1", "PersistentVolume", "pv", spec=spec)


MOUNT = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]

VOLUMES = {
    "claim data does not exist yet": [],
    "names no storage class, and no volume is bound to it": [claim()],
    "of the storage class fast, which does not exist": [claim(storageClassName="fast")],
    "bound to volume pv, which does not exist": [claim(volumeName="pv")],
    "": [claim(volumeName="pv"), volume(nfs={})],
}


@pytest.mark.parametrize("expected", VOLUMES)
def test_a_pod_waits_for_volumes_that_are_not_there(expected):
    found = refusal(pod(volumes=MOUNT), *VOLUMES[expected])

    if not expected:
        assert found is None
    else:
        assert "WaitingForVolumes" == found[0]
        assert expected in found[1]


def test_what_a_running_pod_asks_for_refuses_nothing():
    running = pod(volumes=MOUNT, nodeName="n", status={"phase": "Running"})

    assert refusal(running) is None
