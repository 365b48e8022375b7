"""
Finds etcd and kube-apiserver, or builds them once into a cache outside the repository.

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

MODULE = Path(__file__).resolve().parent / "control-plane"
NAMES = ("etcd", "kube-apiserver")
PACKAGES = ("k8s.io/kubernetes/cmd/kube-apiserver", "go.etcd.io/etcd/server/v3")
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


def cache_folder() -> Path:
    """
    Give the folder of what these very sums build.
    """
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    sums = hashlib.sha256((MODULE / "go.sum").read_bytes()).hexdigest()[:16]
    return Path(base) / "phalanx" / "control-plane" / sums


def build() -> None:
    """
    Build the binaries where they are not there yet and Go is.
    """
    folder = cache_folder()
    if os.environ.get("KUBEBUILDER_ASSETS") or all(
        (folder / name).is_file() for name in NAMES
    ):
        return
    go = shutil.which("go")
    if go is None:
        raise NoControlPlaneError(f"no Kubernetes API server and no Go is here: {HOW}")
    print(
        f"Building etcd and kube-apiserver into {folder} (once; 6 to 10 minutes on two "
        "cores, 5 GB of caches) ...",
        file=sys.stderr,
    )
    half = folder.with_name(f"{folder.name}.{os.getpid()}")
    half.mkdir(parents=True)
    try:
        _build(go, half)
        (half / "server").rename(half / "etcd")
        shutil.rmtree(folder, ignore_errors=True)
        half.rename(folder)
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _build(go: str, folder: Path) -> None:
    version = re.search(
        r"^\s*k8s\.io/kubernetes v(\S+)", (MODULE / "go.mod").read_text(), re.MULTILINE
    )
    number = version.group(1)
    major, minor, _ = number.split(".", 2)
    stamp = "k8s.io/component-base/version"
    flags = (
        f"-s -w -X {stamp}.gitVersion=v{number} "
        f"-X {stamp}.gitMajor={major} -X {stamp}.gitMinor={minor}"
    )
    command = [go, "build", "-trimpath", "-buildvcs=false", "-ldflags", flags]
    done = subprocess.run(
        [*command, "-o", f"{folder}/", *PACKAGES], cwd=MODULE, check=False
    )
    if done.returncode:
        raise NoControlPlaneError(
            f"the API server could not be built (go build ended with "
            f"{done.returncode}; its modules come from `go env GOPROXY`): {HOW}"
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
