"""
Text that is no document: what is refused unread, and how it is told.
"""

import os

import pytest

from adapters.files import read_scenario
from models.errors import InputRejectedError
from tests.adapters.documents import gang, scenario
from tests.adapters.files.problems import problems

TEXTS = {
    "empty": ("x.yaml", b"", "empty"),
    "empty json": ("x.json", b" ", "empty"),
    "only a comment": ("x.yaml", b"# nothing\n", "empty"),
    "binary": ("x.yaml", bytes(range(256)), "binary"),
    "latin": ("x.yaml", "a: é".encode("latin-1"), "not UTF-8"),
    "zeros": ("x.yaml", b"\0" * 100, "binary"),
    "two documents": ("x.yaml", b"a: 1\n---\nb: 2\n", "second document"),
    "key twice": ("x.yaml", b"a: 1\na: 2\n", "line 2: the key 'a' is written twice"),
    "key twice in json": ("x.json", b'{"a": 1, "a": 2}', "written twice"),
    "not yaml": ("x.yaml", b"a: [1\nb: }", "not YAML"),
    "not json": ("x.json", b'{"a": ', "not JSON"),
    "not a number": ("x.json", b'{"a": NaN}', "not a number"),
    "infinite": ("x.yaml", b"a: .inf", "not a number"),
    "word of YAML 1.1": ("x.yaml", b"a: yes\n", "means different things"),
    "octal number": ("x.yaml", b"a: 0777\n", "means different things"),
    "sexagesimal number": ("x.yaml", b"a: 1:30\n", "means different things"),
    "tag": ("x.yaml", b"a: !!python/object:os.system {}\n", "is not read"),
    "unknown alias": ("x.yaml", b"a: *b\n", "no anchor"),
    "alias of itself": ("x.yaml", b"a: &a [*a]\n", "no anchor"),
    "deep": ("x.yaml", b"a: " + b"[" * 5000, "deeper than"),
    "deep json": ("x.json", b"[" * 100_000, "deeper than"),
    "deep values": ("x.json", b'{"a": ' + b"[" * 99 + b"]" * 99 + b"}", "deeper than"),
    "long number": ("x.json", b'{"a": ' + b"9" * 10_000 + b"}", "a: a number"),
    "long number before a fault": (
        "x.json",
        b'{"a": ' + b"9" * 5_000 + b"; }",
        "not JSON",
    ),
    "long number before a deep list": (
        "x.json",
        b'{"a": ' + b"9" * 5_000 + b', "b": ' + b"[" * 100_000,
        "deeper than",
    ),
    "long number inside": (
        "x.json",
        b'{"a": [1,\n{"b": -1' + b"0" * 5_000 + b"}]}",
        "line 2: a[1].b: a number of 5,001 digits is not read",
    ),
    "merge key": ("x.yaml", b"a: &a {b: 1}\nc: {<<: *a}\n", "line 2: merge keys"),
    "tab": ("x.yaml", b"a:\n\tb: 1\n", "it holds a tab; indent with spaces"),
    "UTF-16": (
        "x.yaml",
        "a: 1\n".encode("utf-16"),
        "is UTF-16 text (save it as UTF-8)",
    ),
    "key that is a list": ("x.yaml", b"? [a]\n: 1\n", "plain text"),
    "just a word": ("x.yaml", b"hello\n", "not a mapping"),
}


def test_a_merge_key_of_a_manifest_is_not_passed_over(tmp_path):
    path = tmp_path / "pod.yaml"
    path.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
        "    - &c {name: c, resources: {limits: {nvidia.com/gpu: 4}}}\n"
        "    - {<<: *c, name: d}\n"
    )

    with pytest.raises(InputRejectedError) as caught:
        read_scenario(str(path))

    assert "line 7: merge keys are not read" in str(caught.value.problems[0])


@pytest.mark.parametrize("case", TEXTS)
def test_bad_text_is_refused_in_a_sentence(case, tmp_path):
    name, data, word = TEXTS[case]
    (tmp_path / name).write_bytes(data)

    with pytest.raises(InputRejectedError) as caught:
        read_scenario(str(tmp_path / name))

    assert word in "; ".join(map(str, caught.value.problems))


def test_a_bomb_of_aliases_is_refused(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for i in range(1, 10):
        items = ", ".join([f"*a{i - 1}"] * 10)
        lines.append(f"a{i}: &a{i} [{items}]")
    path = tmp_path / "bomb.yaml"
    path.write_text("\n".join(lines))

    with pytest.raises(InputRejectedError) as caught:
        read_scenario(str(path))

    assert "aliases repeat" in str(caught.value.problems[0])


def test_a_yaml_file_of_100_mb_is_refused_unread(tmp_path):
    path = tmp_path / "large.yaml"
    path.touch()
    os.truncate(path, 100_000_000)

    with pytest.raises(InputRejectedError) as caught:
        read_scenario(str(path))

    assert "larger than 32 MiB" in str(caught.value.problems[0])


def test_json_of_too_many_values_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.json"
    path.write_text("[" + "[]," * 10_000_001 + "[]]")

    with pytest.raises(InputRejectedError) as caught:
        read_scenario(str(path))

    assert "more than 20,000,000 values" in str(caught.value.problems[0])


@pytest.mark.parametrize("depth", [40, 200, 1000])
def test_groups_below_groups_without_end_are_refused(depth, tmp_path):
    leaf = '{"name": "a", "min": 1}'
    tree = '{"name": "g", "groups": [' * depth + leaf + "]}" * depth
    path = tmp_path / "deep.json"
    path.write_text(
        '{"apiVersion": "phalanx/v1", "kind": "Snapshot", '
        f'"given": {{"gangs": [{tree}]}}}}'
    )

    with pytest.raises(InputRejectedError) as caught:
        read_scenario(str(path))

    assert "nested deeper than 60 levels" == caught.value.problems[0].what


def test_of_very_many_problems_the_first_thousand_are_told():
    found = problems(scenario(gangs=[{"nam": "g"}] * 50_000))

    assert 1000 < len(found) < 10_000
    assert any("more than 1,000 problems" in text for text in found)


def test_long_lists_are_judged_as_short_ones_are():
    gangs = [{"name": f"g{i}", "min": 1} for i in range(2500)]
    gangs[2345] = {"name": "g", "mim": 1}
    document = scenario(gangs=gangs) | {"policy": {"sed": 1}}

    found = problems(document)

    assert any(text.startswith("given.gangs[2345].mim") for text in found)
    assert any(text.startswith("policy.sed") for text in found)


@pytest.mark.parametrize("word", ["na\nme", "\x1b[31mred", "\ud800", "\u202egnag"])
def test_what_moves_a_cursor_or_is_no_text_is_spelled_out(word):
    found = problems(gang(**{word: 1, "queue": word, "nodeSelector": {word: 1}}))

    assert found
    assert all(text.isprintable() for text in found), found


def test_a_very_long_word_is_cut():
    found = problems(gang(**{"x" * 10**6: 1}))

    assert all(len(text) < 2000 for text in found)
