"""Drives a headless Chromium by the DevTools protocol, over its pipe. Needs nothing but the standard library."""

import itertools
import json
import os
import shutil
import subprocess
import threading


class PageError(AssertionError):
    """A script in a page has thrown, or hasn't ended in time."""


class Browser:
    """One process of Chromium with a profile of its own."""

    def __init__(self, profile, executable=None):
        executable = executable or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not executable:
            raise SystemExit("Chromium isn't installed. Install the package chromium, or say which by CHROMIUM.")
        ours, theirs = os.pipe(), os.pipe()
        # The browser reads from 3 and writes to 4. A plain sh knows descriptors of one digit only.
        command = f'exec "$0" "$@" 3<&{ours[0]} 4>&{theirs[1]}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, executable, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--host-resolver-rules=MAP plain.test 127.0.0.1", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(ours[0], theirs[1]), stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self._output = os.fdopen(ours[1], "wb", buffering=0)
        self._input = os.fdopen(theirs[0], "rb")
        self._numbers = itertools.count(1)
        self._waiting = {}
        self._lock = threading.Lock()
        #: What scripts have thrown without anybody awaiting it, and what the console calls errors, by session.
        self.errors = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        buffer = b""
        while chunk := self._input.read1(1 << 16):
            *messages, buffer = (buffer + chunk).split(b"\0")
            for message in messages:
                self._take(json.loads(message))
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            answer["error"] = {"message": "The browser has ended."}
            answer["event"].set()

    def _take(self, message):
        if "id" in message:
            with self._lock:
                answer = self._waiting.pop(message["id"], None)
            if answer:
                answer.update(message)
                answer["event"].set()
        elif message["method"] == "Runtime.exceptionThrown":
            details = message["params"]["exceptionDetails"]
            text = details.get("exception", {}).get("description") or details["text"]
            self.errors.setdefault(message.get("sessionId"), []).append(text)

    def call(self, method, parameters=None, session=None, seconds=60):
        message = {"id": next(self._numbers), "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        answer = {"event": threading.Event()}
        with self._lock:
            self._waiting[message["id"]] = answer
        try:
            self._output.write(json.dumps(message).encode() + b"\0")
        except OSError as error:
            raise PageError("The browser has ended.") from error
        if not answer["event"].wait(seconds):
            raise PageError(f"{method} has no answer after {seconds} s: {json.dumps(parameters)[:300]}")
        if "error" in answer:
            raise PageError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def context(self):
        """A context of its own, as if it was another browser: it shares no database with others."""
        return self.call("Target.createBrowserContext")["browserContextId"]

    def page(self, url, context=None):
        """A new tab."""
        parameters = {"url": "about:blank"} | ({"browserContextId": context} if context else {})
        target = self.call("Target.createTarget", parameters)["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, target, session)
        page.navigate(url)
        return page

    def kill(self):
        self.process.kill()
        self.process.wait()


class Page:
    """A tab."""

    def __init__(self, browser, target, session):
        self.browser = browser
        self.target = target
        self.session = session
        for domain in ("Page", "Runtime"):
            browser.call(f"{domain}.enable", session=session)

    @property
    def errors(self):
        return self.browser.errors.get(self.session, [])

    def navigate(self, url):
        self.browser.call("Page.navigate", {"url": url}, self.session)
        self._wait_until_loaded()

    def reload(self):
        self.run("globalThis.isOld = true")
        self.browser.call("Page.reload", session=self.session)
        self._wait_until_loaded()

    def _wait_until_loaded(self):
        for _ in range(3_000):
            try:
                if self.run("document.readyState === 'complete' && location.href !== 'about:blank' && !globalThis.isOld"):
                    return
            except PageError as error:
                if "context" not in str(error):
                    raise
            threading.Event().wait(0.01)
        raise PageError("The page hasn't loaded.")

    def run(self, script, *arguments, seconds=60):
        """The value of an expression, or of an async function's body with `arguments`."""
        if arguments or "await" in script or "return" in script:
            script = f"(async (...arguments) => {{ {script} }})({', '.join(json.dumps(each) for each in arguments)})"
        answer = self.browser.call(
            "Runtime.evaluate", {"expression": script, "awaitPromise": True, "returnByValue": True}, self.session, seconds)
        if details := answer.get("exceptionDetails"):
            raise PageError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def close(self):
        self.browser.call("Target.closeTarget", {"targetId": self.target})
