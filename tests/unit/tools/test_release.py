"""
A release gathers every change once, names its version everywhere, and is tried.
"""

import gzip
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

from tests.helpers.kube.deployed import REPOSITORY
from tools.release import changelog, version
from tools.release.archives import archive, of_chart, of_image

HEAD = "# Changelog\n\n## Unreleased\n\nWhat will be.\n"


def write(folder, **texts):
    for name, text in texts.items():
        issue, kind, *rest = name.removeprefix("i").split("_")
        path = folder / ".".join([issue, kind, *rest, "md"])
        path.write_text(text, encoding="utf-8")
    return changelog.fragments(folder)


def test_every_fragment_of_the_repository_is_one():
    folder = REPOSITORY / "changelog.d"

    assert len(list(folder.iterdir())) - 1 == len(changelog.fragments(folder))


def test_changes_stand_under_their_headings_by_issue(tmp_path):
    found = write(
        tmp_path,
        i7_fixed="Seven is\nmended.\n",
        i16_added="Sixteen.",
        i2_added_10="Two, the second.",
        i2_added_9="Two, the first.",
    )

    assert changelog.section("1.2.0", "2026-01-31", found) == (
        "## 1.2.0 - 2026-01-31\n\n"
        "### Added\n\n- Two, the first.\n- Two, the second.\n- Sixteen.\n\n"
        "### Fixed\n\n- Seven is mended.\n"
    )


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("17.mended.md", "a", "no <issue>.<kind>"),
        ("notes.md", "a", "no <issue>.<kind>"),
        ("17.added.md", " \n", "is empty"),
    ],
)
def test_a_file_that_is_no_change_is_named(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)

    with pytest.raises(ValueError, match=re.escape(name) + ".*" + words):
        changelog.fragments(tmp_path)


def test_a_new_version_stands_above_the_older_ones(tmp_path):
    found = write(tmp_path, i1_added="One.")
    first = changelog.with_section(HEAD, changelog.section("1.0.0", "d", found))
    second = changelog.with_section(first, changelog.section("1.1.0", "e", found))

    assert second == (
        f"{HEAD}\n## 1.1.0 - e\n\n### Added\n\n- One.\n"
        "\n## 1.0.0 - d\n\n### Added\n\n- One.\n"
    )
    with pytest.raises(ValueError, match=r"has 1\.0\.0 already"):
        changelog.with_section(second, changelog.section("1.0.0", "f", found))


@pytest.mark.parametrize("new", ["0.2", "v0.2.0", "0.1.0", "0.0.9", "latest"])
def test_only_a_later_version_is_one(new):
    with pytest.raises(ValueError, match=re.escape(new)):
        version.check("0.1.0", new)


def test_the_version_is_put_in_every_place_that_names_it(tmp_path):
    old = version.current(REPOSITORY)
    for name in version.PLACES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    version.put(tmp_path, old, "77.1.0")

    assert "77.1.0" == version.current(tmp_path)
    for name in version.PLACES:
        assert old not in (tmp_path / name).read_text("utf-8"), name


def test_archives_have_the_same_bytes_each_time(tmp_path):
    chart = REPOSITORY / "deploy" / "chart"
    for name in ("one.tgz", "two.tgz"):
        archive(tmp_path / name, "phalanx", chart, of_chart(REPOSITORY), 1_000_000)

    assert (tmp_path / "one.tgz").read_bytes() == (tmp_path / "two.tgz").read_bytes()
    with gzip.open(tmp_path / "one.tgz") as stream, tarfile.open(fileobj=stream) as tar:
        names = tar.getnames()
    assert {"phalanx/Chart.yaml", "phalanx/templates/role.yaml"} <= set(names)


def test_the_recipe_of_the_image_has_all_that_it_copies():
    names = {path.relative_to(REPOSITORY).as_posix() for path in of_image(REPOSITORY)}
    recipe = (REPOSITORY / "Dockerfile").read_text("utf-8")
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", recipe, re.MULTILINE)

    for word in " ".join(copied).split():
        assert word in names or any(name.startswith(f"{word}/") for name in names)
    assert "Dockerfile" in names
    assert not any(name.startswith("tests/") for name in names)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_whole_release_of_a_copy(tmp_path):
    copy = tmp_path / "copy"
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in listed.stdout.splitlines():
        if (REPOSITORY / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, copy / name)
    (copy / "changelog.d" / "0.added.md").write_text("Something.\n", "utf-8")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], cwd=copy, check=True)
    release = [sys.executable, "-m", "tools.release", "77.1.0", "--date", "2026-01-31"]
    done = subprocess.run(
        release, cwd=copy, check=False, capture_output=True, text=True
    )

    assert 0 == done.returncode, done.stderr
    assert "Tried: the installed wheel plans the demo" in done.stderr
    assert {
        "SHA256SUMS",
        "phalanx-77.1.0-image.tar.gz",
        "phalanx-77.1.0-py3-none-any.whl",
        "phalanx-77.1.0.tgz",
    } == {path.name for path in (copy / "dist").iterdir()}
    assert ["README.md"] == [path.name for path in (copy / "changelog.d").iterdir()]
    assert "\n## 77.1.0 - 2026-01-31\n" in (copy / "CHANGELOG.md").read_text("utf-8")
    again = subprocess.run(
        release, cwd=copy, check=False, capture_output=True, text=True
    )
    assert 1 == again.returncode
    assert "77.1.0 does not come after 77.1.0" in again.stderr
