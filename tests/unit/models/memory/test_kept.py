"""
What is made of immutable objects: once for each, and ahead of time where asked.
"""

from weakref import ref

from models.memory.kept import Kept
from models.snapshot import HashMemo, content_hash, hashed_ahead
from tests.helpers.build import gang, nodes, snapshot


class Thing:
    pass


def test_what_is_gone_is_forgotten_at_once():
    gone, stays = Thing(), Thing()
    heard = ref(gone)
    kept = Kept(lambda thing: thing)
    kept.of([gone, stays])
    kept.of([stays])
    del gone

    assert heard() is None


def test_what_was_made_ahead_is_not_made_again():
    things = [Thing() for _ in range(450)]
    made = []
    kept = Kept(lambda thing: made.append(thing) or len(made))

    ahead = kept.ahead(things)
    next(ahead)
    few = len(made)
    found = kept.of(things)
    rest = list(ahead)

    assert 0 < few < len(things)
    assert found == list(range(1, len(things) + 1))
    assert made == things
    assert rest


def test_a_snapshot_hashed_ahead_in_part_or_whole_has_the_same_hash():
    gangs = [gang(f"g{i}", minimum=1, gpus=1 + i % 3) for i in range(450)]
    given = snapshot(nodes(3), gangs)
    part, whole = HashMemo(), HashMemo()
    next(hashed_ahead(given, part))
    list(hashed_ahead(given, whole))

    assert content_hash(given, part) == content_hash(given)
    assert content_hash(given, whole) == content_hash(given)
