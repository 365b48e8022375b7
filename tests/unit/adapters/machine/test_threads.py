"""
Threads of the search: whoever waits for them does something else meanwhile.
"""

from adapters.machine.threads import ThreadLanes


def test_who_waits_does_bits_of_other_work_until_the_answer_is_yes():
    left, done = [1, 2, 3], []

    def meanwhile():
        if left:
            done.append(left.pop())
            return True
        return False

    asked = []

    def until():
        asked.append(len(done))
        return len(asked) > 2

    ThreadLanes().wait(until, meanwhile)

    assert done == [3, 2]
    assert asked == [0, 1, 2]


def test_without_other_work_it_waits_all_the_same():
    asked = []

    ThreadLanes().wait(lambda: asked.append(1) or len(asked) > 3, lambda: False)

    assert len(asked) == 4
