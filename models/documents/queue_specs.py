"""
Queues as people write them: quotas, limits and weights of resources and their models.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from models.devices.gpu_models import of_model
from models.documents.place_specs import Spec
from models.documents.written import (
    Amount,
    Number,
    PlainName,
    Priority,
    Seconds,
    Written,
    check_resources,
    quota_amount,
)
from models.errors import QuantityError
from models.memory.usage_hours import parse_usage
from models.resources import GPU, GPU_SHARE, is_gpu, read_number

GpuModel = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=63)
]


class ModelQuotaSpec(Spec):
    """
    The numbers of one resource, or of one model of GPUs, in one queue.
    """

    quota: Amount | None = None
    limit: Amount | None = None
    weight: Number = 1
    lending_limit: Amount | None = Field(None, alias="lendingLimit")

    @property
    def is_sum(self) -> bool:
        """
        Tell whether its quota is that of models together.
        """
        return False


class QuotaSpec(ModelQuotaSpec):
    """
    One resource's numbers in one queue, and those of its models.
    """

    models: dict[GpuModel, ModelQuotaSpec] = Field(default_factory=dict, max_length=16)

    @property
    def is_sum(self) -> bool:
        """
        Tell whether its quota is that of its models together.
        """
        return self.quota is None and bool(self.models)

    def counted(self, resource: str) -> str:
        """
        Name what the numbers count: parts of GPUs, where one of them is not whole.
        """
        numbers = (self.quota, self.limit, self.lending_limit)
        has_parts = resource == GPU and any(map(is_in_parts, numbers))
        return GPU_SHARE if has_parts else resource

    def of_models(self, resource: str) -> Iterator[tuple[str, ModelQuotaSpec]]:
        """
        Walk what is said of the resource and of each of its models, by name.
        """
        yield self.counted(resource), self
        for model, rule in self.models.items():
            yield of_model(resource, model), rule


def is_in_parts(text: Written | None) -> bool:
    """
    Tell whether a number is not whole; what is none is refused elsewhere.
    """
    try:
        number = read_number(0 if text is None else text)
    except QuantityError:
        return False
    return number != number.to_integral_value()


def _wrong_amounts(resource: str, rule: ModelQuotaSpec) -> Iterator[tuple[str, str]]:
    """
    Walk what is no amount of a resource, with why.
    """
    for word, text in (
        ("quota", rule.quota),
        ("limit", rule.limit),
        ("lendingLimit", rule.lending_limit),
    ):
        try:
            quota_amount(resource, text)
        except QuantityError as error:
            yield word, str(error)


def _check_quotas(value: dict[str, QuotaSpec]) -> dict[str, QuotaSpec]:
    check_resources(value)
    wrong: dict[str, dict[str, Any]] = {}
    for resource, rule in value.items():
        found: dict[str, Any] = dict(_wrong_amounts(rule.counted(resource), rule))
        models = {
            model: faults
            for model, of_it in rule.models.items()
            if (faults := dict(_wrong_amounts(resource, of_it)))
        }
        found |= {"models": models} if models else {}
        if rule.models and not is_gpu(resource):
            found["models"] = "only GPUs have models"
        wrong |= {resource: found} if found else {}
    if wrong:
        raise PydanticCustomError("quotas", "bad quantities", {"wrong": wrong})
    return value


def _check_usage(value: dict[str, Written]) -> dict[str, Written]:
    check_resources(value)
    wrong: dict[str, str] = {}
    for resource, text in value.items():
        try:
            parse_usage(resource, text)
        except QuantityError as error:
            wrong[resource] = str(error)
    if wrong:
        raise PydanticCustomError("quantities", "bad quantities", {"wrong": wrong})
    return value


class MinRuntimeSpec(Spec):
    """
    How long work must have run before it may be a victim.
    """

    preempt: Seconds = 0
    reclaim: Seconds = 0


class QueueSpec(Spec):
    """
    One node of the quota tree.
    """

    name: PlainName
    parent: PlainName | None = None
    priority: Priority = 100
    state: Literal["Open", "Closed"] = "Open"
    resources: Annotated[dict[str, QuotaSpec], AfterValidator(_check_quotas)] = Field(
        default_factory=dict
    )
    min_runtime: MinRuntimeSpec = Field(MinRuntimeSpec(), alias="minRuntime")
    usage: Annotated[dict[str, Amount], AfterValidator(_check_usage)] = Field(
        default_factory=dict
    )
