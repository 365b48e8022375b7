"""
Schedulers that run beside us: the gangs of Kubernetes itself, and of Koordinator.

Koordinator's is not built here: its binary is named in ``PHALANX_KOORD_SCHEDULER``.
"""

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest

from adapters.kube.api.errors import ConflictError, NotFoundError
from tests.cluster.binaries import NoControlPlaneError, must_run, peer
from tests.cluster.conftest import applier, install
from tests.cluster.crds import ANYTHING, definition
from tests.cluster.manifests import custom, pod
from tests.cluster.stage import Stage

TEAM = "observed"
KOORDINATOR = "PHALANX_KOORD_SCHEDULER"


class KubeScheduler:
    """
    kube-scheduler 1.37, with its gangs.
    """

    name = "default-scheduler"
    api = "scheduling.k8s.io/v1beta1"

    def start(self, stage: Stage) -> None:
        """
        Start it, or skip with the sentence that says why there is none.
        """
        try:
            peer()
        except NoControlPlaneError as error:
            if must_run():
                pytest.fail(str(error), pytrace=False)
            pytest.skip(str(error))
        stage.plane.start_scheduler()

    def stop(self, stage: Stage) -> None:
        """
        End it, so that nobody binds for the tests that follow.
        """
        stage.plane.stop_scheduler()

    def gang(self, stage: Stage, name: str, pods: int, gpus: int) -> list[str]:
        """
        Create a gang in its words; give the names of its pods.
        """
        stage.create([self.group(name, pods)])
        names = [f"{name}-{i}" for i in range(pods)]
        stage.create(self.pod(name, each, gpus) for each in names)
        return names

    def group(self, name: str, pods: int) -> dict:
        """
        Write the group of a gang.
        """
        policy = {"gang": {"minCount": pods}}
        return custom(self.api, "PodGroup", name, TEAM, schedulingPolicy=policy)

    def pod(self, gang: str, name: str, gpus: int) -> dict:
        """
        Write a pod of a gang.
        """
        group = {"podGroupName": gang}
        return pod(TEAM, name, gpus=gpus, scheduler=self.name, schedulingGroup=group)

    def end(self, stage: Stage, name: str, pods: list[str]) -> None:
        """
        End a gang: its pods and its group are deleted.
        """
        for each in pods:
            stage.delete(f"/api/v1/namespaces/{TEAM}/pods/{each}")
        path = f"/apis/{self.api}/namespaces/{TEAM}/podgroups/{name}"
        with suppress(NotFoundError, ConflictError):
            stage.admin.call("PATCH", path, {"metadata": {"finalizers": []}})
        stage.delete(path)


class Koordinator(KubeScheduler):
    """
    Koordinator's scheduler, with its gangs; the rest of it is left out.
    """

    name = "koord-scheduler"
    api = "scheduling.sigs.k8s.io/v1alpha1"

    def start(self, stage: Stage) -> None:
        """
        Start it with its kinds, or skip with the sentence that says what lacks.
        """
        binary = os.environ.get(KOORDINATOR)
        if binary is None:
            pytest.skip(
                f"no koord-scheduler is named in {KOORDINATOR}: build "
                "cmd/koord-scheduler of Koordinator 1.8"
            )
        install(stage.admin, applier(stage.admin), _kinds())
        folder = stage.plane.folder
        settings = folder / "koord-scheduler.json"
        settings.write_text(json.dumps(_settings(stage.plane.kubeconfig("admin"))))
        stage.plane.start_other(
            Path(binary),
            f"--config={settings}",
            "--secure-port=0",
            "--authentication-skip-lookup=true",
        )

    def stop(self, stage: Stage) -> None:
        """
        End it, so that nobody binds for the tests that follow.
        """
        stage.plane.stop_other()

    def group(self, name: str, pods: int) -> dict:
        """
        Write the group of a gang.
        """
        return custom(self.api, "PodGroup", name, TEAM, minMember=pods)

    def pod(self, gang: str, name: str, gpus: int) -> dict:
        """
        Write a pod of a gang.
        """
        labels = {"pod-group.scheduling.sigs.k8s.io": gang}
        return pod(TEAM, name, gpus=gpus, scheduler=self.name, labels=labels)


def _kinds() -> list[dict]:
    """
    List the kinds that it waits for at its start, with whatever is in them.
    """
    wide = {
        "scheduling.koordinator.sh/v1alpha1": ("Reservation", "ClusterNetworkTopology"),
        "slo.koordinator.sh/v1alpha1": ("NodeMetric",),
        "topology.node.k8s.io/v1alpha1": ("NodeResourceTopology",),
    }
    own = {
        "scheduling.koordinator.sh/v1alpha1": ("ScheduleExplanation",),
        "quota.koordinator.sh/v1alpha1": ("ElasticQuotaProfile",),
    }
    return [
        definition(api, kind, ANYTHING, ANYTHING, namespaced=kinds is own)
        for kinds in (wide, own)
        for api, names in kinds.items()
        for kind in names
    ]


def _settings(kubeconfig: str) -> dict:
    """
    Write its settings: those that it ships for gangs, on plain nodes.
    """
    gangs = {"enabled": [{"name": "Coscheduling"}]}
    points = ("preEnqueue", "preFilter", "preScore", "score", "reserve", "permit")
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": kubeconfig, "qps": 200, "burst": 400},
        "profiles": [
            {
                "schedulerName": Koordinator.name,
                "plugins": dict.fromkeys((*points, "preBind", "postBind"), gangs)
                | {"postFilter": gangs | {"disabled": [{"name": "*"}]}},
            }
        ],
    }
