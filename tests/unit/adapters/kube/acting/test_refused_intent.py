"""
What is stored after a server has refused it for a while, whatever its size.
"""

import pytest

from adapters.kube.acting.intent import IntentStore
from adapters.kube.acting.intent_format import Intent
from adapters.kube.api.errors import AnswerError, answer_error
from tests.helpers.kube.kube_store import Store

PATH = "/api/v1/namespaces/ns/configmaps/phalanx-intent"
MANY = {f"ns/{i * 7919**5 % 2**61:x}": {"born": i * 0.1} for i in range(10_000)}


def test_what_is_refused_at_any_size_is_not_stored_in_small_pieces_ever_after():
    api = Store()
    store = IntentStore(api, ("ns", "phalanx-intent"), "one")
    store.claim()

    def fault(method: str, _path: str) -> None:
        if method == "PUT":
            raise answer_error("put", 422, "a policy wants another label")

    api.fault = fault
    with pytest.raises(AnswerError):
        store.write(Intent(round="r1"))
    api.fault = lambda _method, _path: None
    store.write(Intent(round="r2", memory={"gangs": MANY}))

    assert store.size > 64 * 1024
    assert [PATH] == [path for path in api.objects if path.startswith(PATH)]
