"""
A headless Chromium, driven through the pipe of its developer tools.

Nothing is installed here: where there is no Chromium, ``executable`` gives nothing, and
tests skip with a sentence.
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 60.0
_START = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)


def executable() -> str | None:
    """
    Find a Chromium on this machine.
    """
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Chromium:
    """
    One browser with one tab; what happens in the tab is kept.
    """

    def __init__(self, profile: Path) -> None:
        path = executable()
        assert path is not None
        self._in, theirs_out = os.pipe()
        theirs_in, self._out = os.pipe()
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--no-first-run",
            "--disable-background-networking",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
            "about:blank",
        ]
        # The browser reads its orders from 3 and answers on 4; what is moved there
        # must not lie there.
        theirs = [
            fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, *map(str, theirs), path, *options],
            pass_fds=theirs,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (theirs_in, theirs_out, *theirs):
            os.close(end)
        self._rest = b""
        self._next = 0
        self.events: list[dict] = []
        self._session: str | None = None
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self) -> None:
        targets = self.call("Target.getTargets")["targetInfos"]
        tab = next(each for each in targets if each["type"] == "page")["targetId"]
        told = self.call("Target.attachToTarget", targetId=tab, flatten=True)
        self._session = told["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def close(self) -> None:
        """
        End the browser.
        """
        self._session = None
        with contextlib.suppress(BrokenPipeError, EOFError):
            self.call("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def call(self, method: str, **parameters) -> dict:
        """
        Give an order and wait for its answer.
        """
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message(time.monotonic() + PATIENCE)
            if answer.get("id") != self._next:
                self.events.append(answer)
                continue
            assert "error" not in answer, f"{method}: {answer['error']}"
            return answer["result"]

    def _message(self, end: float) -> dict:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], end - time.monotonic())
            assert ready, "the browser does not answer"
            part = os.read(self._in, 1 << 20)
            if not part:
                raise EOFError
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\0")
        return json.loads(line)

    def open(self, path: Path) -> None:
        """
        Load a file and wait until it is loaded.
        """
        self.events.clear()
        url = path.absolute().as_uri()
        wanted = {
            "name": "load",
            "loaderId": self.call("Page.navigate", url=url)["loaderId"],
        }
        end = time.monotonic() + PATIENCE
        while not any(
            wanted.items() <= e.get("params", {}).items() for e in self.events
        ):
            self.events.append(self._message(end))

    def evaluate(self, expression: str):
        """
        Give the value of an expression in the page.
        """
        answer = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = 10.0) -> None:
        """
        Wait until something holds on the page.
        """
        end = time.monotonic() + seconds
        while not self.evaluate(condition):
            assert time.monotonic() < end, condition
            time.sleep(0.02)

    def screen(self, width: int, height: int, scheme: str = "light") -> None:
        """
        Make the screen so large, and light or dark.
        """
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def press(self, key: str, code: int, text: str = "") -> None:
        """
        Press a key and let it go.
        """
        facts = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        kind = "keyDown" if text else "rawKeyDown"
        words = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type=kind, **facts, **words)
        self.call("Input.dispatchKeyEvent", type="keyUp", **facts)

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """
        Save what is seen as PNG.
        """
        data = self.call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=whole
        )["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        """
        Print the page on A4.
        """
        data = self.call(
            "Page.printToPDF",
            paperWidth=8.27,
            paperHeight=11.69,
            preferCSSPageSize=True,
            printBackground=True,
        )["data"]
        path.write_bytes(base64.b64decode(data))

    def complaints(self) -> list[str]:
        """
        Give every error that the page has caused so far.
        """
        self.evaluate("0")
        found = []
        for event in self.events:
            match event.get("method"):
                case "Runtime.exceptionThrown":
                    found.append(json.dumps(event["params"]["exceptionDetails"]))
                case "Runtime.consoleAPICalled" if event["params"]["type"] in {
                    "error",
                    "warning",
                    "assert",
                }:
                    found.append(json.dumps(event["params"]["args"]))
                case "Log.entryAdded":
                    found.append(json.dumps(event["params"]["entry"]))
        return found

    def requests(self) -> list[str]:
        """
        Give the address of everything that was asked for, the page itself first.
        """
        self.evaluate("0")
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]
