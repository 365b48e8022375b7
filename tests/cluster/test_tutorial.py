"""
The tutorial, word for word: its own blocks, in one shell, against a real API server.

Nothing but containers is played: `docker`, `kind` and `make` only note what they are
asked for, nodes are made up, and the Deployment's arguments run as a process.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from adapters.kube.api.connect import connect
from adapters.kube.api.errors import NotFoundError
from tests.cluster.conftest import applier, started
from tests.cluster.controllers import Controllers
from tests.docs.pages import REPOSITORY, blocks

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
PAGE = REPOSITORY / "docs" / "tutorial.md"
TUTORIAL = REPOSITORY / "docs" / "tutorial"
PLAYED = ("docker", "kind", "make")
CHANGES = re.compile(r"\b(?:\d+[smh])+\b|(?<=default/finetune-)[a-z0-9-]+")
"""
Ages, and what a Job calls its pods.
"""


def plain(line):
    return " ".join(CHANGES.sub("…", line).split())


class Shell:
    """
    One bash, as the reader's terminal is one; a failing command fails its block.
    """

    def __init__(self, **environment):
        self._bash = subprocess.Popen(
            ["bash", "--norc"],
            cwd=REPOSITORY,
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, text):
        # Not in a shell of its own: what it exports stays.
        self._bash.stdin.write(
            f"set -o errtrace; trap 'failed=$?' ERR; failed=0\n{text}\n"
            'echo; echo "--failed $failed--"\n'
        )
        self._bash.stdin.flush()
        lines = []
        for line in self._bash.stdout:
            if found := re.match(r"--failed (\d+)--", line):
                return int(found[1]), "".join(lines)
            lines.append(line)
        raise AssertionError(f"the shell ended:\n{''.join(lines)}")

    def close(self):
        self._bash.stdin.close()
        self._bash.wait(20)
        self._bash.stdout.close()


@pytest.fixture
def plane():
    with started() as plane:
        yield plane


@pytest.fixture
def shell(plane, tmp_path):
    if shutil.which("kubectl") is None:
        pytest.skip("no kubectl is here")
    own = tmp_path / "bin"
    own.mkdir()
    for name in PLAYED:
        (own / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/asked\n')
        (own / name).chmod(0o755)
    path = f"{own}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    shell = Shell(PATH=path, KUBECONFIG=plane.kubeconfig("admin"), COLUMNS="200")
    yield shell
    shell.close()


def nodes():
    """
    Make up what kind would: a node for each line of its file.
    """
    said = yaml.safe_load((TUTORIAL / "kind.yaml").read_text("utf-8"))["nodes"]
    room = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    number = 0
    for node in said:
        worker = node["role"] == "worker"
        number += worker
        name = (
            f"kind-worker{number if number > 1 else ''}"
            if worker
            else "kind-control-plane"
        )
        key = "node-role.kubernetes.io/control-plane"
        taints = [] if worker else [{"key": key, "effect": "NoSchedule"}]
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "spec": {"taints": taints},
            "status": {"allocatable": room, "capacity": room},
        }


def test_every_command_of_the_tutorial_does_what_the_page_says(plane, shell, tmp_path):
    admin = connect(plane.kubeconfig("admin"))
    apply = applier(admin)
    for raw in nodes():
        apply(raw)
    with Controllers(plane, tmp_path) as controllers:
        said = ""
        for block in blocks(PAGE):
            if block.language == "sh":
                failed, said = shell.run(block.text)
                print(f"$ {block.text}{said}")
                assert 0 == failed, f"{PAGE}:{block.line}\n{said}"
            elif block.language == "text":
                lines = [plain(line) for line in block.text.splitlines()]
                shown = "\n".join(plain(line) for line in said.splitlines())
                assert "\n".join(lines) in shown, f"{PAGE}:{block.line}\n{said}"

    assert [] == controllers.failed
    asked = (tmp_path / "asked").read_text()
    assert "make setup\n" in asked
    assert "kind load docker-image phalanx:" in asked
    assert [] == admin.call("GET", "/api/v1/pods")["items"]
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles/phalanx"
    for path in ("/api/v1/namespaces/phalanx-system", roles):
        with pytest.raises(NotFoundError):
            admin.call("GET", path)
    admin.close()
