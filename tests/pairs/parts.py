"""
Parts of GPUs: each word that asks for one, in each system's words.
"""

from tests.pairs.pair import ABSENT, pair, pods, room

PLAIN = [*room(), *pods("p", 1)]
SECTION = "Parts of GPUs"


UNPLANNED = "parts of a GPU are not planned"
BESIDE = "p-0 UnsupportedConstraint …nvidia.com/gpu]: whole GPUs beside parts of them"
NOWHERE = "p-0 UnsupportedConstraint …which of its GPUs may be shared under hami"


def asked(*words):
    """
    Give a pair for each resource, beside a whole GPU.
    """
    return [
        pair(
            PLAIN,
            f"Pod/p-0 spec containers 0 resources limits {word}",
            (ABSENT, "1"),
            "p-0 1 on n",
            _said(word),
            word=word,
        )
        for word in words
    ]


def _said(word):
    """
    Say what becomes of a pod with the resource: HAMi's is another word for its GPU.
    """
    if word.startswith("nvidia.com/"):
        return NOWHERE
    if word.startswith("volcano.sh/gpu") or word.endswith("core.percentage"):
        return f"p-0 UnsupportedConstraint …{word}]: {UNPLANNED}"
    return BESIDE


def noted(*words, key=""):
    """
    Give a pair for each annotation.
    """
    return [
        pair(
            PLAIN,
            f"Pod/p-0 metadata annotations {key or word}",
            (ABSENT, "0.5"),
            "p-0 1 on n",
            f"p-0 UnsupportedConstraint …annotation {key or word}: parts of a GPU…",
            word=word,
        )
        for word in words
    ]


FRACTION = ("gpu-fraction", "gpu-memory", "gpu-fraction-num-devices")
BINDER_REFUSES = (
    "the pod asks for nvidia.com/gpu too",
    "the pod asks for nvidia.com/gpu too",
    "it needs gpu-fraction or gpu-memory beside it",
)
OWN = "nvidia.com/container.main.gpu-memory.request"
RESOURCES = (
    (
        *("koordinator.sh/gpu", "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory"),
        *("koordinator.sh/gpu-memory-ratio", "koordinator.sh/gpu.shared"),
    ),
    ("aliyun.com/gpu-mem", "aliyun.com/gpu-core.percentage"),
    ("volcano.sh/gpu-memory", "volcano.sh/gpu-number"),
    (
        *("volcano.sh/vgpu-number", "volcano.sh/vgpu-memory"),
        *("volcano.sh/vgpu-memory-percentage", "volcano.sh/vgpu-cores"),
    ),
    ("nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"),
)
ROWS = {
    f"annotations {', '.join(f'`{word}`' for word in FRACTION)}": [
        pair(
            PLAIN,
            f"Pod/p-0 metadata annotations {word}",
            (ABSENT, "0.5"),
            "p-0 1 on n",
            f"p-0 InvalidGang …annotation {word}: {what}",
            word=word,
        )
        for word, what in zip(FRACTION, BINDER_REFUSES, strict=True)
    ],
    "annotations that begin with `nvidia.com/container.`": noted(
        "nvidia.com/container.", key=OWN
    ),
    **{
        f"resources {', '.join(f'`{word}`' for word in words)}": asked(*words)
        for words in RESOURCES
    },
}
