"""
What was not read of files is said by every command that shows or plans them.
"""

import pytest

from adapters.cli.commands import ui
from adapters.cli.main import run

FOREIGN = """\
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Node
    metadata: {name: n}
    status: {allocatable: {cpu: "8", pods: "110"}}
  - apiVersion: v1
    kind: Pod
    metadata: {name: p, namespace: a, uid: u}
    spec:
      schedulerName: volcano
      containers: [{name: c, resources: {requests: {cpu: "1"}}}]
"""


@pytest.mark.parametrize(
    "words",
    [
        ("plan",),
        ("compare",),
        ("what-if", "--cordon", "n"),
        ("why", "--summary"),
        ("get", "gangs", "-f"),
        ("describe", "node", "n", "-f"),
        ("ui",),
    ],
    ids=lambda words: words[0],
)
def test_pods_of_other_schedulers_are_said_to_be_ignored(
    tmp_path, capsys, monkeypatch, words
):
    monkeypatch.setattr(ui, "_serve", lambda *_: None)
    path = tmp_path / "foreign.yaml"
    path.write_text(FOREIGN)

    assert 0 == run([*words, str(path)])
    assert "pods of other schedulers: 1 waiting" in capsys.readouterr().err
