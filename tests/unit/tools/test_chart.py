"""
The Helm chart is what its source gives, and its table of values is whole.
"""

import json
import re

import jsonschema
import pytest
import yaml

from adapters.service.run_settings import ConfigFile
from tests.helpers.kube.deployed import BASE, FOLDERS, REPOSITORY, documents
from tools.chart.files import CHART, chart
from tools.chart.values import VALUES

WRITTEN_BY_HAND = {
    "templates/NOTES.txt",
    "templates/_helpers.tpl",
    "templates/configmap.yaml",
    "templates/monitoring-dashboard.yaml",
}
SCHEMA = json.loads((CHART / "values.schema.json").read_text("utf-8"))
USUAL = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
OVERLAYS = [folder.name for folder in FOLDERS if folder != BASE]


def paths():
    return {
        path.relative_to(CHART).as_posix(): path
        for path in CHART.rglob("*")
        if path.is_file()
    }


def faults(values):
    return [
        one.message
        for one in jsonschema.Draft202012Validator(SCHEMA).iter_errors(values)
    ]


MADE = chart()


@pytest.mark.parametrize("name", sorted(MADE))
def test_every_made_file_is_what_its_source_gives(name):
    assert MADE[name] == (CHART / name).read_text("utf-8"), "make chart"


def test_the_chart_has_no_other_file():
    assert MADE.keys() | WRITTEN_BY_HAND == paths().keys()


def test_templates_use_every_value_and_no_other():
    text = "".join(
        path.read_text("utf-8")
        for name, path in paths().items()
        if name.startswith("templates/")
    )
    used = set(re.findall(r"\.Values\.([\w.]+)", text))
    image = {
        f"image.{name}" for name in re.findall(r"\.(repository|tag|digest)\b", text)
    }

    known = {value.name for value in VALUES} | {"policy", "run"}
    known |= {"run.schedulerNames", "run.observe", "run.evictAfter"}
    assert known == (used - {"image"}) | image


def test_the_settings_are_those_of_the_base():
    (base,) = documents(BASE / "settings.yaml")

    assert (base["policy"], base["run"]) == (USUAL["policy"], USUAL["run"])


def test_the_schema_takes_the_values_and_every_example():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    assert [] == faults(USUAL)
    for name in OVERLAYS:
        said = yaml.safe_load((CHART / "examples" / f"{name}.yaml").read_text("utf-8"))
        assert [] == faults(USUAL | said)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"replica": 3}, "'replica' was unexpected"),
        ({"policy": {"evict": {"maxPodz": 3}}}, "'maxPodz' was unexpected"),
        ({"policy": {"tiers": ["karma"]}}, "'karma' is not valid"),
        ({"run": {"interval": 0}}, "less than the minimum"),
        ({"run": {"shard": "blue"}}, "'shard' was unexpected"),
        ({"run": {"listen": "none"}}, "'listen' was unexpected"),
        ({"run": {"folder": "/data"}}, "'folder' was unexpected"),
        ({"run": {"leaderElect": False}}, "'leaderElect' was unexpected"),
        ({"run": {"shutdown": 30}}, "greater than or equal to the maximum"),
        ({"shard": "Blue"}, "does not match"),
        ({"image": {"digest": "sha256:1"}}, "does not match"),
        ({"image": {"repository": "x\n  evil: true"}}, "does not match"),
        ({"nodePool": "pool"}, "does not match"),
        ({"namespace": {"name": "Team A"}}, "does not match"),
        ({"nodeSelector": {"gpu": False}}, "is not of type 'string'"),
        ({"monitoring": {"labels": {"n": 1}}}, "is not of type 'string'"),
        ({"imagePullSecrets": ["registry"]}, "is not of type 'object'"),
        ({"run": {"schedulerNames": [""]}}, "does not match"),
    ],
)
def test_the_schema_refuses_what_the_scheduler_would(values, word):
    assert any(word in fault for fault in faults(USUAL | values))


def test_the_schema_knows_every_setting():
    made = SCHEMA["$defs"]
    full = ConfigFile.model_json_schema(by_alias=True)["$defs"]
    named = {"shard", "nodePool", "namespace", "kubeconfig", "context"}
    named |= {"leaderElect", "listen", "folder"}

    assert full.keys() == made.keys()
    for name, kind in full.items():
        fields = set(kind.get("properties", ())) - named
        assert fields == set(made[name].get("properties", ()))


def test_the_version_is_that_of_the_wheel():
    project = (REPOSITORY / "pyproject.toml").read_text("utf-8")
    about = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))

    assert f'\nversion = "{about["version"]}"\n' in project
    assert about["version"] == about["appVersion"]
