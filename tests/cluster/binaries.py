"""
Finds what tests need beside Python, or builds it once into a cache outside the
repository: etcd and kube-apiserver; helm and kustomize.

As a command it runs the command given to it, once there is something to run it with.
Else it says why not in one sentence, and fails only in CI, where the tests must run.
Without a command its exit code says which: 0 there, 77 to be skipped, 1 failed.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULE = HERE / "control-plane"
NAMES = ("etcd", "kube-apiserver")
PEER = "kube-scheduler"
PACKAGES = (
    "k8s.io/kubernetes/cmd/kube-apiserver",
    "k8s.io/kubernetes/cmd/kube-scheduler",
    "go.etcd.io/etcd/server/v3",
)
PACKAGING = HERE / "packaging"
TOOLS = {
    "helm": "helm.sh/helm/v4/cmd/helm",
    "kustomize": "sigs.k8s.io/kustomize/kustomize/v5",
}
HOW = (
    "install Go 1.26 or newer and run `make test-cluster`, or name a folder that has "
    "etcd and kube-apiserver in KUBEBUILDER_ASSETS"
)


TO_BE_SKIPPED = 77


class NoControlPlaneError(Exception):
    """
    There is no API server to test with; the text says why and what to do.
    """


def must_run() -> bool:
    """
    Tell whether this is CI, where skipping would hide that nothing was tested.
    """
    return os.environ.get("CI", "").lower() in {"1", "true"}


def found() -> Path:
    """
    Give the folder with the binaries that are there already.
    """
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    folder = Path(assets) if assets else cache_folder()
    lacking = [name for name in NAMES if not (folder / name).is_file()]
    if assets and lacking:
        raise NoControlPlaneError(
            f"KUBEBUILDER_ASSETS ({folder}) has no {' and no '.join(lacking)}"
        )
    if lacking:
        raise NoControlPlaneError(f"no Kubernetes API server is here: {HOW}")
    if shutil.which("openssl") is None:
        raise NoControlPlaneError("no openssl is here, which makes the server's key")
    return folder


def peer() -> Path:
    """
    Give kube-scheduler, which a few tests run beside us.
    """
    path = found() / PEER
    if not path.is_file():
        raise NoControlPlaneError(f"no {PEER} is here: {HOW}")
    return path


def cache_folder(module: Path = MODULE) -> Path:
    """
    Give the folder of what these very sums build.
    """
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    sums = hashlib.sha256((module / "go.sum").read_bytes()).hexdigest()[:16]
    return Path(base) / "phalanx" / module.name / sums


def packaging_tool(name: str) -> Path:
    """
    Give helm or kustomize: of the version that is locked here, and no other.
    """
    path = cache_folder(PACKAGING) / name
    if not path.is_file():
        raise NoControlPlaneError(f"no {name} is here: {HOW}")
    return path


def build() -> None:
    """
    Build the binaries where they are not there yet and Go is.
    """
    if os.environ.get("KUBEBUILDER_ASSETS"):
        return
    _build(
        MODULE,
        {"etcd": "server", "kube-apiserver": "kube-apiserver", PEER: PEER},
        PACKAGES,
        _kubernetes_flags(),
        "10 to 14 minutes on two cores, 5 GB of caches",
    )
    _build(
        PACKAGING,
        {name: name for name in TOOLS},
        tuple(TOOLS.values()),
        "-s -w",
        "2 to 4 minutes on two cores",
    )


def _build(
    module: Path,
    names: dict[str, str],
    packages: tuple[str, ...],
    flags: str,
    cost: str,
) -> None:
    """
    Build a module's packages, each under its name; Go calls it as its folder.
    """
    folder = cache_folder(module)
    if all((folder / name).is_file() for name in names):
        return
    go = shutil.which("go")
    if go is None:
        raise NoControlPlaneError(
            f"no {' and no '.join(names)} and no Go is here: {HOW}"
        )
    said = f"Building {' and '.join(names)} into {folder} (once; {cost}) ..."
    print(said, file=sys.stderr)
    half = folder.with_name(f"{folder.name}.{os.getpid()}")
    half.mkdir(parents=True)
    command = [go, "build", "-trimpath", "-buildvcs=false", "-ldflags", flags]
    try:
        done = subprocess.run(
            [*command, "-o", f"{half}/", *packages], cwd=module, check=False
        )
        if done.returncode:
            raise NoControlPlaneError(
                f"{' and '.join(names)} could not be built (go build ended with "
                f"{done.returncode}; its modules come from `go env GOPROXY`): {HOW}"
            )
        for name, built in names.items():
            (half / built).rename(half / name)
        shutil.rmtree(folder, ignore_errors=True)
        half.rename(folder)
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _kubernetes_flags() -> str:
    version = re.search(
        r"^\s*k8s\.io/kubernetes v(\S+)", (MODULE / "go.mod").read_text(), re.MULTILINE
    )
    number = version.group(1)
    major, minor, _ = number.split(".", 2)
    stamp = "k8s.io/component-base/version"
    return (
        f"-s -w -X {stamp}.gitVersion=v{number} "
        f"-X {stamp}.gitMajor={major} -X {stamp}.gitMinor={minor}"
    )


def main(command: list[str]) -> int:
    try:
        build()
        found()
    except NoControlPlaneError as error:
        verdict = "Failed" if must_run() else "Skipped"
        print(f"{verdict}: {error}.", file=sys.stderr)
        if must_run():
            return 1
        return 0 if command else TO_BE_SKIPPED
    if not command:
        print(f"There is an API server in {found()}.", file=sys.stderr)
        return 0
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
