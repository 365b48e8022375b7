"""
How the scheduler runs: settings of `phalanx run`, each with where it comes from.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from adapters.kube.objects.node_pool import pool_of
from adapters.machine.listening import address_parts
from adapters.service.settings import PREFIX, Flags, Settings, effective
from models.dialects import DialectChoice, contradiction
from models.errors import InputRejectedError, Problem
from models.policy import Limits, Policy

BUDGET = 2.0
"""
The seconds that a round may search where nobody says otherwise.
"""
_UNSAID = "default of run"
OBSERVING = "observe"
"""
The shard of who only observes, where nobody names one: it leads beside who acts.
"""
_YES = (True, "true", "True", "1", "yes", "on")
_INSIDE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def _temporary() -> str:
    """
    Name a folder without a look at the disk: it may be one that is only read.
    """
    return str(Path(os.environ.get("TMPDIR") or "/tmp") / "phalanx")  # noqa: S108


def _listed(value: object) -> object:
    """
    Read a list that the environment writes with commas or spaces.
    """
    if isinstance(value, str):
        return tuple(filter(None, re.split(r"[,\s]+", value)))
    return value


def _a_pool(text: str) -> str:
    pool_of(text)
    return text


def _an_address(text: str) -> str:
    address_parts(text)
    return text


def _an_address_or_none(text: str) -> str:
    return text if text in NOWHERE else _an_address(text)


NOWHERE = frozenset({"", "none"})
"""
What stands for an address where nothing is to be served.
"""


class RunSettings(BaseModel):
    """
    All but the policy; times are seconds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kubeconfig: str | None = None
    context: str | None = None
    namespace: str = Field(
        "phalanx-system", pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
    )
    shard: str = Field("default", pattern=r"^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$")
    node_pool: Annotated[str, AfterValidator(_a_pool)] = Field("", alias="nodePool")
    scheduler_names: Annotated[
        tuple[Annotated[str, Field(pattern=r"^\S+$")], ...], BeforeValidator(_listed)
    ] = Field(("phalanx",), alias="schedulerNames", min_length=1)
    dialects: Annotated[tuple[DialectChoice, ...], BeforeValidator(_listed)] = ()
    interval: float = Field(10.0, ge=0.1, le=3600)
    settle: float = Field(0.05, ge=0, le=60)
    events: bool = True
    watch: int = Field(60, ge=1, le=3600)
    shutdown: float = Field(20.0, ge=0, le=3600)
    threads: int = Field(8, ge=1, le=64)
    evict_after: float = Field(600.0, ge=0, le=86400, alias="evictAfter")
    pause: str = Field("", max_length=200)
    observe: bool = False
    leader_elect: bool = Field(default=True, alias="leaderElect")
    lease_duration: float = Field(15.0, ge=1, le=3600, alias="leaseDuration")
    lease_renew: float = Field(10.0, ge=0.5, le=3600, alias="leaseRenew")
    lease_retry: float = Field(2.0, ge=0.1, le=3600, alias="leaseRetry")
    listen: Annotated[str, AfterValidator(_an_address_or_none)] = ":8080"
    ui: bool = False
    ui_listen: Annotated[str, AfterValidator(_an_address)] = Field(
        "127.0.0.1:8712", alias="uiListen"
    )
    ui_names: Annotated[tuple[str, ...], BeforeValidator(_listed)] = Field(
        (), alias="uiNames"
    )
    log_format: Literal["json", "text"] = Field("json", alias="logFormat")
    status_rate: float = Field(300.0, ge=0.1, le=10_000, alias="statusRate")
    own_status: Annotated[
        tuple[Literal["koordinator", "ack", "coscheduling"], ...],
        BeforeValidator(_listed),
    ] = Field(("koordinator",), alias="ownStatus")
    folder: str = Field(default_factory=_temporary)


class ConfigFile(BaseModel):
    """
    The one file of settings.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    api_version: Literal["phalanx/v1"] = Field(alias="apiVersion")
    kind: Literal["Config"]
    policy: Policy = Policy()
    run: RunSettings = RunSettings()


@dataclass(frozen=True, slots=True)
class Running:
    """
    The settings in effect, and the origin of each that somebody said.
    """

    run: RunSettings
    policy: Policy
    origins: Mapping[str, str]

    def said(self) -> Mapping[str, object]:
        """
        Give what differs from the defaults, and what names this scheduler.
        """
        values = self.run.model_dump(by_alias=True, mode="json")
        named = {"namespace", "shard", "schedulerNames"}
        return {k: v for k, v in values.items() if k in self.origins or k in named}

    def rows(self) -> list[tuple[str, str, str]]:
        """
        List every setting but those of the policy, with its origin.
        """
        values = self.run.model_dump(by_alias=True, mode="json")
        return [
            (f"run.{name}", _shown(name, value), self.origins.get(name, "default"))
            for name, value in values.items()
        ]


def running(
    file: ConfigFile | None, said: Mapping[str, object], limits: Flags
) -> Running:
    """
    Lay environment and flags over the file.

    Parameters
    ----------
    file
        The file of settings, where there is one.
    said
        The flags, by the name of the setting; none where it was not given.
    limits
        The flags of the policy.
    """
    document = file.run.model_dump(by_alias=True) if file else {}
    written = file.run.model_fields_set if file else set()
    fields = RunSettings.model_fields
    names = {field.alias or name: name for name, field in fields.items()}
    origins = {alias: "file" for alias, name in names.items() if name in written}
    document = {alias: document[alias] for alias in origins}
    if "namespace" not in document and _INSIDE.is_file():
        document["namespace"] = _INSIDE.read_text(encoding="utf-8").strip()
        origins["namespace"] = "the pod it runs in"
    for alias in names:
        word = _FLAGS.get(alias) or _word(alias)
        variable = _VARIABLES.get(alias) or _variable(_word(alias))
        if value := os.environ.get(variable):
            document[alias], origins[alias] = value, f"env {variable}"
        if (flag := said.get(alias)) is not None:
            document[alias], origins[alias] = flag, f"flag --{word}"
    if document.get("observe") in _YES and "shard" not in document:
        document["shard"], origins["shard"] = OBSERVING, "that of who observes"
    policy = policy_of_run(file.policy if file else Policy(), limits).policy
    return Running(_validated(document, origins), policy, origins)


def as_run_here() -> RunSettings:
    """
    Give the settings that `phalanx run` would have here without any flag.
    """
    return running(config_of(None), {}, {}).run


def policy_of_run(policy: Policy, limits: Flags) -> Settings:
    """
    Let the clock bound a round, where nothing says what bounds it.
    """
    settings = effective(policy, limits)
    if settings.origins.keys() & {"limits.seconds", "limits.deterministic"}:
        return settings
    said = policy.limits.model_dump(by_alias=True, exclude_unset=True)
    bounded = Limits(**{**said, "seconds": BUDGET})
    settings = effective(policy.model_copy(update={"limits": bounded}), limits)
    origins = {**settings.origins, "limits.seconds": _UNSAID}
    if origins.get("limits.workers", "").startswith("all cores"):
        origins["limits.workers"] = f"all cores, as the {_UNSAID} says"
    return replace(settings, origins=origins)


def config_of(said: str | None) -> ConfigFile | None:
    """
    Read the file of settings that a flag names, else the environment, if any does.
    """
    path = said or os.environ.get(f"{PREFIX}CONFIG")
    return read_config(path) if path else None


def read_config(path: str) -> ConfigFile:
    """
    Read a file of settings.

    Raises
    ------
    InputRejectedError
        When it is not one, with every problem and its place.
    """
    from adapters.files.checking.problems import located, schema_faults
    from adapters.files.text import looks_like_json, parse_text, read_text

    name, text = read_text(path)
    document = parse_text(name, text)
    if not isinstance(document, dict):
        what = "a file of settings begins with apiVersion and kind: Config"
        raise InputRejectedError(name, [Problem("file", "holds no fields", what)])
    try:
        return ConfigFile.model_validate(document)
    except ValidationError as error:
        faults = schema_faults(error, document, ConfigFile)
        yaml = not looks_like_json(name, text)
        raise InputRejectedError(name, located(faults, text, yaml=yaml)) from error


def is_config(path: str) -> bool:
    """
    Tell a file of settings from one with a round; standard input is never one.

    It is one also where it does not say so, but says nothing of a round either.
    """
    from adapters.files.text import parse_text, read_text

    if path == "-" or not Path(path).is_file():
        return False
    document = parse_text(*read_text(path))
    if not isinstance(document, dict) or "given" in document:
        return False
    if document.get("apiVersion", "phalanx/v1") != "phalanx/v1":
        return False
    return document.get("kind") not in {"Scenario", "Snapshot"}


def _validated(document: dict[str, Any], origins: Mapping[str, str]) -> RunSettings:
    try:
        settings = RunSettings.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        where = origins.get(name, "")
        message = f"{name} = {first['input']!r} ({where}): {first['msg']}"
        raise typer.BadParameter(message) from error
    if what := contradiction(settings.dialects):
        raise typer.BadParameter(f"dialects ({origins.get('dialects', '')}): {what}")
    times = settings.lease_retry, settings.lease_renew, settings.lease_duration
    if not times[0] < times[1] < times[2]:
        message = (
            "leaseRetry, leaseRenew and leaseDuration must rise, "
            f"and are {times[0]:g} s, {times[1]:g} s and {times[2]:g} s"
        )
        raise typer.BadParameter(message)
    return settings


_FLAGS = {"schedulerNames": "scheduler-name", "dialects": "dialect"}
_VARIABLES = {"dialects": f"{PREFIX}DIALECT"}
"""
Where the setting of several is said one by one, and as other commands name it.
"""


def _variable(word: str) -> str:
    return f"{PREFIX}{word.upper().replace('-', '_')}"


def _word(alias: str) -> str:
    """
    Write the name of a setting as a flag: ``nodePool`` is ``node-pool``.
    """
    return re.sub(r"(?<=[a-z])([A-Z])", r"-\1", alias).lower()


_UNITS = {
    **dict.fromkeys(
        (
            *("interval", "settle", "watch", "shutdown", "evictAfter"),
            *("leaseDuration", "leaseRenew", "leaseRetry"),
        ),
        "{:g} s",
    ),
    "statusRate": "{:g} requests a second",
    "threads": "at most {} threads",
}


def _shown(name: str, value: object) -> str:
    if value is None:
        return "not set"
    if name == "nodePool" and not value:
        return "the whole cluster"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        nothing = "no choice made" if name == "dialects" else "none"
        return ", ".join(map(str, value)) or nothing
    return _UNITS.get(name, "{}").format(value) or "not set"
