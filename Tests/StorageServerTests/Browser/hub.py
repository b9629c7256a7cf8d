"""A hub as a process of its own: `storagekit serve` on a store in a folder."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import urllib.parse
import urllib.request

TOOL = os.environ.get("STORAGEKIT", "storagekit")


class Hub:
    """Keeps its port when it is started again."""

    def __init__(self, folder, origin):
        self.folder = pathlib.Path(folder)
        self.store = self.folder / "hub.sqlite"
        self.origin = origin
        self.process = None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    def start(self):
        self.process = subprocess.Popen(
            [TOOL, "serve", "-s", self.store, "--create", "--port", str(self.port), "--origin", self.origin],
            stdout=subprocess.PIPE, stderr=open(self.folder / "log", "ab"), text=True)
        if "Serving on" not in (line := self.process.stdout.readline()):
            raise AssertionError(f"The hub doesn't start: {line} {(self.folder / 'log').read_text()}")

    def stop(self):
        """As a service manager does."""
        self._end(signal.SIGTERM)

    def kill(self):
        self._end(signal.SIGKILL)

    def _end(self, sign):
        if not self.process:
            return
        process, self.process = self.process, None
        process.send_signal(sign)
        process.wait(timeout=30)
        process.stdout.close()
        if sign == signal.SIGTERM and process.returncode != 0:
            raise AssertionError(f"The hub ends with {process.returncode}: {(self.folder / 'log').read_text()}")

    def token(self, name, *grants):
        """Makes a token; reads and writes everything unless grants are given."""
        return self._run("tokens", "create", name, "-s", self.store, *(grants or ("--write", "*"))).split()[0]

    def back_up(self):
        self._run("backup", "-s", self.store, self.folder / "backup.sqlite")

    def restore(self):
        """Puts a stopped hub back to the backup."""
        self._run("restore", self.folder / "backup.sqlite", "-o", self.store, "--force", "--yes")

    def _run(self, *arguments):
        done = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.stdout} {done.stderr}")
        return done.stdout

    def request(self, method, path, token, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"null")

    def documents(self, collection, token):
        """All documents of a collection: fields by id."""
        found, after = {}, None
        while True:
            query = "?" + urllib.parse.urlencode({"after": after}) if after is not None else ""
            page = self.request("GET", f"/v1/collections/{collection}/documents{query}", token)
            found |= {each["id"]: each["fields"] for each in page["documents"]}
            if (after := page.get("next")) is None:
                return found
