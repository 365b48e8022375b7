"""
Grids: which circumstances a study goes through.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from adapters.study.case import Case
from models.errors import WrongUseError
from models.policy import Policy

MOST_CASES = 100_000
_RANGE = re.compile(r"(\d{1,6})\.\.(\d{1,6})(?::(\d{1,6}))?")


class StudyError(WrongUseError):
    """
    What is to be studied cannot be.
    """


@dataclass(frozen=True, slots=True)
class Variant:
    """
    A policy with the name by which a person knows it.
    """

    label: str
    policy: Policy


def numbers(text: str) -> list[int]:
    """
    Read ``50,60`` or ``40..80:5``, each number once, in rising order.
    """
    found: set[int] = set()
    for word in text.split(","):
        match = _RANGE.fullmatch(word.strip())
        if match is not None:
            low, high, step = int(match[1]), int(match[2]), int(match[3] or 1)
            if not step or low > high:
                raise StudyError(f"{word!r} is not a range such as 40..80:5")
            found.update(range(low, high + 1, step))
        elif word.strip().isdecimal() and len(word.strip()) <= 6:
            found.add(int(word))
        else:
            raise StudyError(f"{word!r} is neither a number nor a range like 40..80:5")
    return sorted(found)


def clusters(cluster: str, counts: Sequence[int]) -> list[str]:
    """
    Give a cluster of made-up nodes with other counts of its first kind.
    """
    first, plus, rest = cluster.partition("+")
    match = re.fullmatch(r"(\d{1,6})x(\d{1,4})", first)
    if match is None:
        raise StudyError(
            f"--nodes varies the first kind of a cluster such as 60x8, not {cluster!r}"
        )
    return [f"{count}x{match[2]}{plus}{rest}" for count in counts]


def kind_of(cluster: str) -> str:
    """
    Name what clusters have in common that differ in how many nodes they have only.
    """
    of_list = re.sub(r"(\.csv(?:\.gz)?)(@\d{1,6})?$", r"\1@N", cluster)
    return re.sub(r"^\d{1,6}(?=x\d)", "N", of_list)


def variants(policy: Policy, settings: Sequence[str]) -> list[Variant]:
    """
    Make a policy for each combination of ``waiting.heads=1,2`` and the like.
    """
    axes = [_axis(text) for text in settings]
    paths = [path for path, _ in axes]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise StudyError(
            f"--set {twice} is said more than once: say all values in one, {twice}=A,B"
        )
    found = []
    for values in product(*(known for _, known in axes)):
        chosen = [*zip(paths, values, strict=True)]
        document = policy.model_dump(by_alias=True, mode="json")
        for path, value in chosen:
            _put(document, path, value)
        label = " ".join(f"{path}={_word(value)}" for path, value in chosen)
        try:
            made = Policy.model_validate(document)
        except ValidationError as error:
            first = error.errors()[0]
            raise StudyError(f"--set {label}: {first['msg']}") from error
        found.append(Variant(label or "as given", made))
    return found


def names_of(files: Sequence[str]) -> dict[str, str]:
    """
    Name each file once: by its stem, or by its path where another has that stem.
    """
    stems = {file: Path(file).stem for file in files}
    often = Counter(stems.values())
    return {file: stem if often[stem] == 1 else file for file, stem in stems.items()}


def _axis(text: str) -> tuple[str, list[Any]]:
    """
    Read a setting and its values, each once.
    """
    path, equals, words = text.partition("=")
    if not equals or not words:
        raise StudyError(f"--set {text!r} is not a setting such as waiting.heads=1,2")
    values = {_word(value): value for value in map(_value, words.split(","))}
    return path.strip(), [*values.values()]


def _value(word: str) -> Any:  # noqa: ANN401 - whatever a policy may hold
    try:
        return json.loads(word)
    except ValueError:
        return word.strip()


def _word(value: Any) -> str:  # noqa: ANN401 - whatever a policy may hold
    return value if isinstance(value, str) else json.dumps(value)


def _put(document: dict[str, Any], path: str, value: object) -> None:
    """
    Put a value where its path leads; of a list of tiers each is known by its name.
    """
    at: Any = document
    *above, last = path.split(".")
    for name in above:
        at = _inside(at, name)
        if at is None:
            raise StudyError(f"--set {path}: a policy has no {name!r} there")
    if not isinstance(at, dict):
        raise StudyError(f"--set {path}: say which option of {last!r}")
    if last not in at:
        known = ", ".join(at)
        raise StudyError(f"--set {path}: a policy has no {last!r} there, but {known}")
    at[last] = value


def _inside(at: Any, name: str) -> Any:  # noqa: ANN401 - whatever a policy may hold
    if isinstance(at, dict):
        inner = at.get(name)
        return inner if isinstance(inner, dict | list) else None
    named = (entry for entry in at if isinstance(entry, dict))
    return next((entry for entry in named if entry.get("name") == name), None)


def cases(
    base: Case,
    *,
    clusters: Mapping[str, str],
    quotas: Sequence[str | None],
    variants: Sequence[Variant],
    strategies: Sequence[str],
    seeds: int,
) -> list[Case]:
    """
    Combine all axes, the clusters with the longest lines first.

    Parameters
    ----------
    base
        What all cases share.
    clusters
        By their words, the digests of their files.
    quotas
        Ways to make queues.
    variants
        Policies.
    strategies
        Who decides.
    seeds
        How many traces each combination is played with.
    """
    count = len(clusters) * len(quotas) * len(variants) * len(strategies) * seeds
    if count > MOST_CASES:
        raise StudyError(f"{count:,} replays are too many: at most {MOST_CASES:,}")
    return [
        *_combined(base, clusters, product(quotas, variants, strategies, range(seeds)))
    ]


def _combined(
    base: Case,
    clusters: Mapping[str, str],
    others: Iterator[tuple[str | None, Variant, str, int]],
) -> Iterator[Case]:
    rest = [*others]
    for cluster, digest in clusters.items():
        for quota, variant, strategy, seed in rest:
            yield replace(
                base,
                cluster=cluster,
                cluster_digest=digest,
                quotas=quota,
                label=variant.label,
                policy=variant.policy.model_dump_json(by_alias=True),
                strategy=strategy,
                seed=seed,
            )
