"""A TCP proxy that delays, cuts, half-opens, throttles and refuses connections as a seed says."""

import random
import socket
import threading
import time


class Proxy:
    """Passes connections on to a port of this machine.

    What happens to a connection is decided by the seed and the connection's number alone.
    """

    def __init__(self, port, seed=None):
        self.target = port
        self.seed = seed
        #: Whether new connections are closed at once, as by a machine that isn't reached.
        self.refuses = False
        #: Bytes that each request is answered with, in place of the server.
        self.answer = None
        #: A part of requests whose answers don't arrive: their connections are cut once the server has answered.
        self.loses_answers_to = None
        self.lost = 0
        self.accepted = 0
        #: Connections up to this number are half open from now on: what is sent arrives nowhere.
        self.frozen = 0
        self._open = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def heal(self):
        """No faults any more; what was half open is cut."""
        self.seed = None
        self.cut()

    def freeze(self):
        """The connections that there are become half open."""
        self.frozen = self.accepted

    def cut(self):
        with self._lock:
            sockets = list(self._open)
        for each in sockets:
            self._close(each)

    def close(self):
        self._listener.close()
        self.cut()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self._serve, args=(client, self.accepted), daemon=True).start()

    def _serve(self, client, number):
        with self._lock:
            self._open.add(client)
        if self.refuses:
            return self._close(client)
        if self.answer:
            return self._answer(client)
        try:
            server = socket.create_connection(("127.0.0.1", self.target), timeout=10)
            server.settimeout(None)
        except OSError:
            return self._close(client)
        with self._lock:
            self._open.add(server)
        loses = threading.Event()
        for place, (source, sink) in enumerate([(client, server), (server, client)]):
            generator = random.Random(f"{self.seed} {number} {place}") if self.seed is not None else None
            threading.Thread(
                target=self._pass, args=(source, sink, generator, number, loses, source is client), daemon=True).start()

    def _answer(self, client):
        try:
            request = b""
            while b"\r\n\r\n" not in request and (chunk := client.recv(1 << 16)):
                request += chunk
            client.sendall(self.answer(request.decode("latin-1")))
            time.sleep(0.1)
        except OSError:
            pass
        self._close(client)

    def _pass(self, source, sink, generator, number, loses, is_request):
        # Of the bytes that go one way: after how many something happens, and what.
        fate = generator.choices(["none", "cut", "half-open", "throttle"], [4, 4, 1, 1])[0] if generator else "none"
        rest = int(2 ** generator.uniform(6, 16)) if generator else 0
        try:
            while chunk := source.recv(1 << 16):
                if number <= self.frozen:
                    continue
                if is_request and self.loses_answers_to and self.loses_answers_to in chunk:
                    loses.set()
                elif loses.is_set() and not is_request:
                    self.lost += 1
                    break
                if generator:
                    time.sleep(generator.random() ** 4 / 2)
                    if fate in ("cut", "half-open") and len(chunk) >= rest:
                        sink.sendall(chunk[:rest])
                        if fate == "cut":
                            break
                        while source.recv(1 << 16):
                            pass
                        break
                    rest -= len(chunk)
                if fate == "throttle":
                    for start in range(0, len(chunk), 512):
                        sink.sendall(chunk[start:start + 512])
                        time.sleep(0.02)
                else:
                    sink.sendall(chunk)
        except OSError:
            pass
        self._close(source)
        self._close(sink)

    def _close(self, each):
        with self._lock:
            self._open.discard(each)
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        each.close()
