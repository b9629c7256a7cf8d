"""Serves the client, and a page that loads it, under a strict content security policy."""

import http.server
import pathlib
import threading

PAGE = b"""<!doctype html><meta charset="utf-8"><title>Test</title><script type="module" src="/page.js"></script>"""
SCRIPT = b"""
import { StorageKitClient, StorageKitError } from "/storagekit.js";
Object.assign(globalThis, { StorageKitClient, StorageKitError });
"""
POLICY = "default-src 'none'; script-src 'self'; connect-src http://127.0.0.1:*"


class Site:
    """On a port of this machine; files are read at each request."""

    def __init__(self, files):
        """`files`: what is served beside the page, as paths by the paths of URLs."""

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = self.path.split("?")[0]
                if path in files:
                    body = pathlib.Path(files[path]).read_bytes()
                else:
                    body = {"/": PAGE, "/page.js": SCRIPT}.get(path)
                self.send_response(404 if body is None else 200)
                types = {"js": "text/javascript", "css": "text/css"}
                self.send_header("Content-Type", types.get(path.rsplit(".")[-1], "text/html; charset=utf-8"))
                self.send_header("Content-Length", str(len(body or b"")))
                if path not in files:
                    self.send_header("Content-Security-Policy", POLICY)
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.origin = f"http://localhost:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
