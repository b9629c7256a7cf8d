"""What the tests share: a hub, a browser, and a site with a page that loads the client."""

import os
import pathlib
import shutil
import tempfile
import time
import unittest

from browser import Browser
from hub import Hub
from proxy import Proxy
from site_server import Site

ROOT = pathlib.Path(__file__).resolve().parents[3]
CLIENT = ROOT / "Sources/StorageServer/Client/storagekit.js"

#: Opens a client in a page, and keeps what it reports.
OPEN = """
const [url, token, database] = arguments;
globalThis.client = new StorageKitClient({ url, token, database });
globalThis.notes = client.collection("notes");
globalThis.seen = [];
notes.subscribe((documents, snapshot) => { globalThis.seen = documents; globalThis.snapshot = snapshot; });
"""


class BrowserTestCase(unittest.TestCase):
    """Each test has a hub of its own, and a proxy before it; they share a browser."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.profile = tempfile.mkdtemp(prefix="storagekit-browser-")
        cls.browser = Browser(cls.profile, os.environ.get("CHROMIUM"))
        cls.site = Site({"/storagekit.js": CLIENT})

    @classmethod
    def tearDownClass(cls):
        cls.browser.kill()
        cls.site.close()
        shutil.rmtree(cls.profile, ignore_errors=True)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="storagekit-hub-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.pages = []
        self.hub = Hub(self.folder, self.site.origin)
        self.addCleanup(self.hub.kill)
        self.hub.start()
        self.token = self.hub.token("ada")
        self.proxy = Proxy(self.hub.port)
        self.addCleanup(self.proxy.close)

    def tearDown(self):
        errors = [error for page in self.pages for error in page.errors]
        for page in self.pages:
            page.close()
        self.assertEqual(errors, [], "A script has thrown, and nobody has caught it.")

    def tab(self, context=None, token=None, database=None, proxy=None):
        """A tab with a client; tabs of one context share its database."""
        page = self.browser.page(self.site.origin + "/", context)
        self.pages.append(page)
        self.open(page, token, database, proxy)
        return page

    def open(self, page, token=None, database=None, proxy=None):
        page.run(OPEN, (proxy or self.proxy).url, token or self.token, database or self.id())

    def documents(self):
        """The documents that the hub has, by id."""
        return self.hub.documents("notes", self.token)

    def eventually(self, read, expected, seconds=30):
        """Waits until something is as it should be."""
        end = time.monotonic() + seconds
        while (found := read()) != expected:
            if time.monotonic() > end:
                self.assertEqual(found, expected)
            time.sleep(0.05)

    def sent(self, page, seconds=60):
        """Waits until the hub has taken or refused all that was written in a page."""
        page.run("await client.whenSent()", seconds=seconds)

    def seen(self, page):
        """What a page's subscription shows, by id."""
        return {each["id"]: each for each in page.run("seen")}
