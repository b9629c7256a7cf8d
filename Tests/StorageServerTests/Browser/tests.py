"""The client for browsers against a real hub, in a real browser.

STORAGEKIT_SEED is the seed of what is decided at random, and 1 where it isn't given.
"""

import os
import pathlib
import random
import shutil
import tempfile
import threading
import time
import unittest

from browser import Browser
from fixture import CLIENT, ROOT, BrowserTestCase
from proxy import Proxy
from site_server import Site

NOTES = ROOT / "Examples/Notes"
SEED = int(os.environ.get("STORAGEKIT_SEED", "1"))

MAKE = """
const [from, to] = arguments;
for (let number = from; number < to; number += 1) {
    await notes.save({ id: `n${number % 20}`, number });
    globalThis.last = number;
}
"""


#: Delays the stream of tasks, and of what is followed beside them, until it is released.
HOLD_STREAM = """
globalThis.isHeld = false;
const native = fetch;
const released = new Promise((resolve) => { globalThis.release = resolve; });
globalThis.fetch = async (url, options) => {
    if (url.includes("collection=tasks") && options.headers.Accept === "text/event-stream") {
        globalThis.isHeld = true;
        await released;
    }
    return native(url, options);
};
"""


#: Loses the answer to the first push, when it is released: the stream is faster.
LOSE_ANSWER = """
globalThis.isHeld = false;
const native = fetch;
const released = new Promise((resolve) => { globalThis.release = resolve; });
globalThis.fetch = async (url, options) => {
    const answer = await native(url, options);
    if (isHeld || !url.endsWith("/v1/sync/push")) return answer;
    globalThis.isHeld = true;
    await released;
    throw new TypeError("Failed to fetch");
};
"""


#: Reads the record of the page's database.
READ_RECORD = """
const { name } = (await indexedDB.databases()).find(({ name }) => name.endsWith(suffix));
const opened = indexedDB.open(name);
const database = await new Promise((resolve) => { opened.onsuccess = () => resolve(opened.result); });
const records = database.transaction("record", "readwrite").objectStore("record");
const got = records.get("record");
const record = await new Promise((resolve) => { got.onsuccess = () => resolve(got.result); });
"""


#: Puts back what a version of the client that doesn't know the session of the last batch leaves as it was; returns that.
KEEP_SESSION = """
const [suffix, kept] = arguments;
""" + READ_RECORD + """
const { lastSession, knownEpoch } = record;
const put = records.put({ ...record, ...kept }, "record");
await new Promise((resolve) => { put.transaction.oncomplete = resolve; });
database.close();
return { lastSession, knownEpoch };
"""


#: Sends batches under the next numbers, as a copy of the page's database.
SEND_AS_COPY = """
const [url, token, suffix, beginsSession, batches] = arguments;
""" + READ_RECORD + """
database.close();
const send = async (path, body) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
};
const { producer, lastNumber } = record;
const epoch = record.epoch + (beginsSession ? 1 : 0);
if (beginsSession) await send("/v1/sync/hello", { producer, epoch });
const line = record.lines.at(-1).id;
for (let n = 1; n <= batches; n += 1) {
    const write = { origin: 98 + n, base: 0, collection: "notes", id: "b", operation: "save", fields: { n } };
    await send("/v1/sync/push", { producer, epoch, line, firstNumber: lastNumber + n, writes: [write] });
}
"""


def cors(request, origin, status, headers):
    """An answer of a proxy that stands before a hub."""
    is_preflight = request.startswith("OPTIONS")
    lines = [
        "HTTP/1.1 " + ("204 No Content" if is_preflight else status), f"Access-Control-Allow-Origin: {origin}",
        "Access-Control-Allow-Headers: Authorization, Content-Type", "Access-Control-Expose-Headers: Retry-After",
        "Connection: close", "Content-Length: 0"]
    return "\r\n".join(lines + ([] if is_preflight else headers) + ["", ""]).encode()


class FollowingTests(BrowserTestCase):
    def test_clients_follow_each_other(self):
        first, second = self.tab(), self.tab(self.browser.context())
        first.run("await notes.save({ id: 'a', title: 'Milk', tags: ['x', { deep: null }], done: false, rank: 1.5 })")
        note = {"id": "a", "title": "Milk", "tags": ["x", {"deep": None}], "done": False, "rank": 1.5}
        self.eventually(lambda: self.seen(second), {"a": note})
        second.run("await notes.update('a', { title: 'Oat milk', done: true, rank: null })")
        del note["rank"]
        note |= {"title": "Oat milk", "done": True}
        self.eventually(lambda: self.seen(first), {"a": note})
        self.assertEqual(self.documents(), {"a": note})
        first.run("await notes.delete('a')")
        self.eventually(lambda: self.seen(second), {})
        self.assertEqual(self.documents(), {})
        self.assertEqual(first.run("return await notes.get('a') ?? null"), None)

    def test_a_write_is_shown_before_the_hub_has_it(self):
        self.hub.kill()
        page = self.tab()
        page.run("await notes.save({ id: 'a', title: 'Milk' }); await notes.update('a', { done: true })")
        self.assertEqual(page.run("return await notes.all()"), [{"id": "a", "title": "Milk", "done": True}])
        self.eventually(lambda: page.run("[seen.length, snapshot.isLoaded, [...snapshot.pending]]"), [1, False, ["a"]])
        self.eventually(lambda: page.run("[client.status.online, client.status.lastError?.code]"), [False, "network"])
        self.hub.start()
        page.run("client.retryNow()")
        self.sent(page)
        self.eventually(lambda: page.run("[snapshot.isLoaded, [...snapshot.pending]]"), [True, []])
        self.assertEqual(page.run("[client.status.state, client.status.lastError, client.status.pending]"), ["online", None, 0])
        self.assertEqual(self.documents(), {"a": {"id": "a", "title": "Milk", "done": True}})

    def test_a_collection_that_comes_later_is_followed_beside_the_first(self):
        first, second = self.tab(), self.tab(self.browser.context())
        first.run(MAKE, 0, 30)
        self.sent(first)
        first.run("await client.collection('tasks').save({ id: 't', title: 'Later' }); await client.whenSent()")
        self.eventually(lambda: len(self.seen(second)), 20)
        second.run("globalThis.tasks = client.collection('tasks')")
        self.eventually(lambda: second.run("return await tasks.all()"), [{"id": "t", "title": "Later"}])
        first.run("await client.collection('tasks').update('t', { title: 'Now' }); await notes.delete('n1')")
        self.eventually(lambda: second.run("return await tasks.all()"), [{"id": "t", "title": "Now"}])
        self.eventually(lambda: len(self.seen(second)), 19)

    def test_a_deletion_before_the_stream_arrives(self):
        self.hub.request("PUT", "/v1/collections/notes/documents/n", self.token, {"n": 1})
        page = self.tab()
        self.eventually(lambda: list(self.seen(page)), ["n"])
        page.run(HOLD_STREAM)
        self.hub.request("PUT", "/v1/collections/tasks/documents/t", self.token, {"n": 1})
        page.run("globalThis.tasks = client.collection('tasks')")
        self.eventually(lambda: page.run("return [isHeld, (await tasks.all()).length]"), [True, 1])
        self.hub.request("DELETE", "/v1/collections/tasks/documents/t", self.token)
        page.run("release()")
        self.eventually(lambda: page.run("return await tasks.all()"), [])

    def test_an_iteration_follows_too(self):
        page = self.tab()
        page.run("""globalThis.sizes = [];
            (async () => { for await (const all of notes) { sizes.push(all.length); if (all.length === 3) break; } sizes.push('end') })()""")
        for number in range(3):
            page.run("await notes.save({ title: String(arguments[0]) })", number)
        self.eventually(lambda: page.run("sizes")[-2:], [3, "end"])

    def test_values_of_json_arrive_as_they_were(self):
        first, second = self.tab(), self.tab(self.browser.context())
        fields = {
            "text": "quote \" slash \\ line\nemoji 🙂 é", "empty": "", "large": 9007199254740991, "small": -0.000001,
            "list": [1, [2, [3]], {}], "object": {"a": {"b": [None, True]}}, "Ünïcode key": 1, "sp ace": "x", "no": False}
        first.run("await notes.save({ id: 'späß/ 1?&#%', ...arguments[0] })", fields)
        self.eventually(lambda: self.seen(second), {"späß/ 1?&#%": {"id": "späß/ 1?&#%", **fields}})
        first.run("await notes.save({ id: '__proto__', title: 'x' })")
        self.eventually(lambda: second.run("return await notes.get('__proto__')"), {"id": "__proto__", "title": "x"})
        id = first.run("return await notes.save({ title: 'y' })")
        self.assertEqual(id, id.upper(), "the id that a hub has for a row with a UUID")
        self.eventually(lambda: second.run("return await notes.get(arguments[0])", id), {"id": id, "title": "y"})


#: Follows a live query in a page, and keeps what it reports and what it asks the hub.
LIVE = """
globalThis.asked = [];
const native = fetch;
globalThis.fetch = (url, options) => {
    if (url.endsWith("/query")) asked.push(options.headers["Last-Event-ID"] ?? null);
    return native(url, options);
};
globalThis.query = notes.live(arguments[0]);
[globalThis.live, globalThis.failures, globalThis.calls] = [null, [], 0];
globalThis.stop = query.subscribe(
    (documents, { position }) => { globalThis.live = documents; globalThis.position = position; calls += 1 },
    (error, willRetry) => failures.push([error.code, willRetry]));
"""
FIRST = {"filters": [{"field": "done", "operator": "==", "value": False}], "orders": [{"field": "rank"}], "limit": 3}


class LiveQueryTests(BrowserTestCase):
    def put(self, id, **fields):
        self.hub.request("PUT", f"/v1/collections/notes/documents/{id}", self.token, {"done": False, **fields})

    def delete(self, id):
        self.hub.request("DELETE", f"/v1/collections/notes/documents/{id}", self.token)

    def shows(self, page, *ids):
        self.eventually(lambda: page.run("return live?.map(({ id }) => id)"), list(ids))

    def test_a_result_is_kept_up_to_date(self):
        for rank in range(5):
            self.put(f"n{rank}", rank=rank)
        page = self.tab()
        page.run(LIVE, FIRST)
        self.shows(page, "n0", "n1", "n2")
        page.run("globalThis.before = live")
        self.put("n9", rank=0.5)
        self.shows(page, "n0", "n9", "n1")
        self.assertEqual(page.run("[live[0] === before[0], live[2] === before[1], before.length]"), [True, True, 3])
        self.delete("n0")
        self.shows(page, "n9", "n1", "n2")
        self.put("n9", rank=1.5)
        self.shows(page, "n1", "n9", "n2")
        self.put("n1", rank=1, done=True)
        self.shows(page, "n9", "n2", "n3")
        self.assertEqual(page.run("live[0]"), {"id": "n9", "rank": 1.5, "done": False})
        # A write of the page itself, once the hub has it.
        page.run("await notes.save({ id: 'own', rank: -1, done: false }); await client.whenSent()")
        self.shows(page, "own", "n9", "n2")
        page.run("stop()")
        calls = page.run("calls")
        self.put("n0", rank=-5)
        self.eventually(lambda: page.run("return (await notes.get('n0')) !== undefined"), True)
        self.assertEqual(page.run("[calls, failures.length, asked]"), [calls, 0, [None]])

    def test_a_lost_connection_gets_what_it_missed(self):
        for rank in range(5):
            self.put(f"n{rank}", rank=rank)
        page = self.tab()
        page.run(LIVE, FIRST)
        self.shows(page, "n0", "n1", "n2")
        self.proxy.refuses = True
        self.proxy.cut()
        self.eventually(lambda: page.run("failures")[:1], [["network", True]])
        self.delete("n0")
        self.put("n3", rank=-1)
        self.put("n4", rank=9)
        page.run("globalThis.before = live")
        self.assertEqual(page.run("live.length"), 3)
        self.proxy.refuses = False
        page.run("client.retryNow()")
        self.shows(page, "n3", "n1", "n2")
        # It has resumed: what hasn't changed wasn't sent again.
        self.assertEqual(page.run("[live[1] === before[1], live[2] === before[2], typeof asked.at(-1)]"), [True, True, "string"])

    def test_a_result_outlives_the_hubs_process(self):
        self.put("a", rank=1)
        page = self.tab()
        page.run(LIVE, FIRST)
        self.shows(page, "a")
        for end, id in ((self.hub.stop, "b"), (self.hub.kill, "c")):
            end()
            self.hub.start()
            self.put(id, rank=2)
            page.run("client.retryNow()")
            self.eventually(lambda: page.run(f"return live.some(({{ id }}) => id === '{id}')"), True)
        self.shows(page, "a", "b", "c")
        self.assertEqual(page.run("return failures.every(([, willRetry]) => willRetry)"), True)

    def test_a_result_ends_with_the_right_to_it(self):
        self.put("a", rank=1)
        page = self.tab(token=self.hub.token("other", "--write", "other"))
        page.run(LIVE, FIRST)
        self.eventually(lambda: page.run("failures"), [["forbidden", False]])
        self.assertEqual(
            page.run("try { for await (const _ of query); } catch (error) { return error.code }"), "forbidden")
        bad = page.run("try { for await (const _ of notes.live({ limit: 0 })); } catch (error) { return error.code }")
        self.assertEqual(bad, "forbidden")
        # With another token it is followed again, by the same object.
        page.run("client.setToken(arguments[0]); query.subscribe((documents) => { globalThis.live = documents })", self.token)
        self.shows(page, "a")
        self.assertEqual(
            page.run("try { for await (const _ of notes.live({ limit: 0 })); } catch (error) { return error.code }"), "invalid")

    def test_a_refused_token_waits_for_another(self):
        self.put("a", rank=1)
        page = self.tab(token="sk_wrong")
        page.run(LIVE, FIRST)
        self.eventually(lambda: page.run("failures"), [["unauthorized", True]])
        page.run("client.setToken(arguments[0])", self.token)
        self.shows(page, "a")

    def test_an_iteration_of_a_live_query_ends_with_the_client(self):
        page = self.tab()
        page.run("""globalThis.sizes = [];
            (async () => { for await (const all of notes.live()) sizes.push(all.length); sizes.push('end') })()""")
        self.eventually(lambda: page.run("sizes"), [0])
        self.put("a", rank=1)
        self.eventually(lambda: page.run("sizes").count(1) > 0, True)
        page.run("await client.close()")
        self.eventually(lambda: page.run("sizes.at(-1)"), "end")

    def test_faults_of_the_network_leave_the_right_result(self):
        self.put("n0", rank=0)
        page = self.tab(proxy=self.proxy)
        page.run(LIVE, {"filters": [{"field": "rank", "operator": ">=", "value": 3}], "limit": 10})
        generator = random.Random(SEED)
        self.proxy.seed = SEED
        self.proxy.cut()
        for number in range(150):
            id = f"n{generator.randrange(20)}"
            if generator.random() < 0.2 and id in self.documents():
                self.delete(id)
            else:
                self.put(id, rank=generator.randrange(8), number=number)
            if number % 25 == 0:
                self.proxy.cut()
                page.run("client.retryNow()")
        self.proxy.heal()
        page.run("client.retryNow()")
        found = sorted((d for d in self.documents().items() if d[1]["rank"] >= 3), key=lambda d: (d[1]["rank"], d[0]))[:10]
        expected = [{"id": id, **fields} for id, fields in found]
        self.eventually(lambda: page.run("live"), expected, seconds=60)
        self.assertGreater(page.run("return asked.filter((id) => id !== null).length"), 0)


class OutboxTests(BrowserTestCase):
    def test_tabs_share_one_outbox_and_one_sends(self):
        first = self.tab()
        second = self.tab()
        for page in (first, second):
            self.eventually(lambda: page.run("client.status.state"), "online")
        locks = "(await navigator.locks.query())"
        self.assertEqual(
            first.run(f"const all = {locks}; return [all.held.length, all.pending.length]"), [1, 1])
        second.run("await notes.save({ id: 'a', from: 'second' }); await client.whenSent()")
        self.eventually(lambda: self.seen(first), {"a": {"id": "a", "from": "second"}})
        first.run("await notes.update('a', { from: 'first' })")
        self.eventually(lambda: self.seen(second), {"a": {"id": "a", "from": "first"}})
        # Whoever has the lock goes, and the other one takes over.
        first.close()
        self.pages.remove(first)
        second.run("await notes.save({ id: 'b' }); await client.whenSent()")
        self.assertEqual(sorted(self.documents()), ["a", "b"])

    def test_reloads_in_the_middle_of_writes_lose_nothing(self):
        page, other = self.tab(), self.tab(self.browser.context())
        other.run("globalThis.back = []; let highest = {}; notes.subscribe((all) => { for (const { id, number } of all) {"
                  " if (number < highest[id]) back.push([id, number]); highest[id] = number; } })")
        generator = random.Random(SEED)
        done = 0
        for _ in range(12):
            page.run("globalThis.last = -1; (async () => { for (let n = arguments[0]; ; n += 1) {"
                     " await notes.save({ id: `n${n % 20}`, number: n }); last = n } })().catch(() => {}); return 0", done)
            time.sleep(generator.random() * 0.5)
            stored = page.run("last")
            page.reload()
            self.open(page)
            done = max(done, stored + 1)
        page.run(MAKE, done, done + 20)
        self.sent(page)
        self.assertEqual(
            {key: each["number"] for key, each in self.documents().items()},
            {f"n{number % 20}": number for number in range(done, done + 20)})
        self.assertEqual(page.run("return (await client.parked()).length"), 0)
        self.eventually(lambda: self.seen(other) == self.documents(), True)
        self.assertEqual(other.run("back"), [], "A follower has seen a document go back.")
        print(f"\n  {done + 20} writes over 12 reloads", end=" ")

    def test_ten_thousand_writes_without_a_hub_drain_in_order(self):
        self.proxy.refuses = True
        page, other = self.tab(), self.tab(self.browser.context())
        page.run("""await notes.save({ id: 'first', number: 0 });
            for (let n = 0; n < 10000; n += 100) await Promise.all(Array.from({ length: 100 }, (_, i) =>
                notes.save({ id: `n${(n + i) % 2500}`, number: n + i })));""", seconds=300)
        self.eventually(lambda: page.run("client.status.pending"), 10_001)
        self.proxy.refuses = False
        started = time.monotonic()
        for each in (page, other):
            each.run("client.retryNow()")
        self.sent(page, seconds=300)
        print(f"\n  10,001 writes sent in {time.monotonic() - started:.1f} s", end=" ")
        self.eventually(lambda: len(self.seen(other)), 2_501, seconds=60)
        expected = {f"n{number % 2500}": number for number in range(10_000)} | {"first": 0}
        self.assertEqual({key: each["number"] for key, each in self.seen(other).items()}, expected)

    def test_writes_survive_a_killed_browser(self):
        profile = tempfile.mkdtemp(prefix="storagekit-browser-")
        self.addCleanup(shutil.rmtree, profile, ignore_errors=True)
        stored = 0
        for _ in range(3):
            browser = Browser(profile)
            self.addCleanup(browser.kill)
            page = browser.page(self.site.origin + "/")
            self.open(page)
            page.run("globalThis.last = -1; (async () => { for (let n = arguments[0]; ; n += 1) {"
                     " await notes.save({ id: `n${n}`, number: n }); last = n } })(); return 0", stored)
            time.sleep(1.5)
            stored = page.run("last") + 1
            browser.kill()
        browser = Browser(profile)
        self.addCleanup(browser.kill)
        page = browser.page(self.site.origin + "/")
        self.open(page)
        self.sent(page)
        missing = {f"n{number}" for number in range(stored)} - self.documents().keys()
        self.assertEqual(missing, set())
        print(f"\n  {stored} writes over 3 killed browsers", end=" ")

    def test_a_refused_write_is_parked_and_blocks_its_document_alone(self):
        page = self.tab()
        page.run("""await notes.update('none', { title: 'x' }); await notes.save({ id: 'a', number: 1 });
            await notes.save({ id: 'none', title: 'y' }); await notes.save({ id: 'a', number: 2 });""")
        self.eventually(lambda: self.documents(), {"a": {"id": "a", "number": 2}})
        self.eventually(lambda: page.run("[client.status.pending, client.status.parked]"), [1, 1])
        [parked] = page.run("return await client.parked()")
        origin = parked.pop("origin")
        self.assertEqual(
            parked, {"collection": "notes", "id": "none", "operation": "patch", "fields": {"title": "x"}, "reason": "missing"})
        page.run("await client.retry(arguments[0])", origin)
        self.eventually(lambda: page.run("return (await client.parked()).length"), 1)
        page.run("await client.discard(arguments[0])", origin)
        self.sent(page)
        self.assertEqual(self.documents()["none"], {"id": "none", "title": "y"})
        self.assertEqual(page.run("[client.status.pending, client.status.parked]"), [0, 0])
        self.assertEqual(
            page.run("return await client.discard(arguments[0]).catch((error) => error.code)", origin), "not-found")

    def test_a_write_that_the_hub_cannot_read_is_found_among_others(self):
        self.proxy.refuses = True
        page = self.tab()
        page.run("""for (let n = 0; n < 40; n += 1) await notes.save({ id: `n${n}`, text: n === 23 ? '\\ud800' : 'x' })""")
        self.proxy.refuses = False
        page.run("client.retryNow()")
        self.eventually(lambda: page.run("[client.status.pending, client.status.parked]"), [0, 1])
        self.assertEqual(len(self.documents()), 39)
        [parked] = page.run("return await client.parked()")
        self.assertEqual([parked["id"], parked["reason"]], ["n23", "invalid"])

    def test_updates_that_were_never_sent_are_one_write(self):
        self.proxy.refuses = True
        page = self.tab()
        page.run("""await notes.save({ id: 'a', title: '', kept: 1, dropped: 1 });
            for (const title of ['M', 'Mi', 'Mil', 'Milk']) await notes.update('a', { title });
            await notes.update('a', { dropped: null });
            await notes.save({ id: 'b' }); await notes.update('a', { title: 'Milk!' });""")
        self.eventually(lambda: page.run("client.status.pending"), 3)
        self.proxy.refuses = False
        page.run("client.retryNow()")
        self.sent(page)
        self.assertEqual(self.documents(), {"a": {"id": "a", "title": "Milk!", "kept": 1}, "b": {"id": "b"}})

    def test_writes_that_come_together_keep_their_order(self):
        self.proxy.refuses = True
        page = self.tab()
        page.run("""await Promise.all(Array.from({ length: 50 }, (_, n) => notes.save({ id: `n${n % 10}`, number: n })));
            await Promise.all([notes.save({ id: 'a', n: 1 }), notes.update('a', { n: 2 }), notes.update('a', { m: 3 }),
                notes.delete('n0'), notes.update('a', { n: 4 })])""")
        self.eventually(lambda: page.run("client.status.pending"), 53)
        self.proxy.refuses = False
        page.run("client.retryNow()")
        self.sent(page)
        expected = {f"n{number}": {"id": f"n{number}", "number": 40 + number} for number in range(1, 10)}
        self.assertEqual(self.documents(), expected | {"a": {"id": "a", "n": 4, "m": 3}})

    def test_writes_whose_answer_was_lost_have_their_outcomes(self):
        page = self.tab()
        page.run("await notes.save({ id: 'a', n: 1 }); await client.whenSent()")
        self.proxy.loses_answers_to = b"POST /v1/sync/push"
        page.run("await Promise.all([notes.update('none', { n: 2 }), notes.save({ id: 'b', n: 2 })])")
        self.sent(page)
        self.assertEqual(page.run("return (await client.parked()).map(({ id, reason }) => [id, reason])"), [["none", "missing"]])
        self.assertEqual(sorted(self.documents()), ["a", "b"])
        self.assertGreater(self.proxy.lost, 0)

    def test_a_write_whose_answer_was_lost_makes_room_for_later_ones(self):
        page, other = self.tab(), self.tab(self.browser.context())
        page.run(LOSE_ANSWER)
        page.run("await notes.save({ id: 'a', n: 1 })")
        self.eventually(lambda: self.seen(other), {"a": {"id": "a", "n": 1}})
        self.eventually(lambda: page.run("isHeld"), True)
        other.run("await notes.update('a', { n: 2 }); await notes.save({ id: 'b', n: 1 }); await client.whenSent()")
        # The page has received both, and shows its own write until that has an outcome.
        self.eventually(lambda: self.seen(page), {"a": {"id": "a", "n": 1}, "b": {"id": "b", "n": 1}})
        page.run("release()")
        self.eventually(lambda: self.seen(page)["a"]["n"], 2)
        self.eventually(lambda: page.run("[...snapshot.pending]"), [])

    def test_a_document_that_is_too_large_is_parked_alone(self):
        page = self.tab()
        page.run("""await notes.save({ id: 'a' }); await notes.save({ id: 'large', text: 'x'.repeat(9 << 20) });
            await notes.save({ id: 'b' })""")
        self.eventually(lambda: page.run("[client.status.pending, client.status.parked]"), [0, 1], seconds=60)
        self.assertEqual(sorted(self.documents()), ["a", "b"])
        [id, reason, detail] = page.run(
            "const [{ id, reason, detail }] = await client.parked(); return [id, reason, detail]")
        self.assertEqual([id, reason], ["large", "invalid"])
        self.assertIn("bytes", detail)

    def test_a_change_of_a_document_that_somebody_has_deleted_is_parked(self):
        first, second = self.tab(), self.tab(self.browser.context())
        first.run("await notes.save({ id: 'a', title: 'x' }); await client.whenSent()")
        self.eventually(lambda: len(self.seen(second)), 1)
        self.proxy.refuses = True
        self.proxy.cut()
        second.run("await notes.update('a', { title: 'y' })")
        self.hub.request("DELETE", "/v1/collections/notes/documents/a", self.token)
        self.proxy.refuses = False
        second.run("client.retryNow()")
        self.eventually(lambda: second.run("return (await client.parked()).map((each) => each.reason)"), ["deleted"])
        self.eventually(lambda: self.seen(second), {})
        # Who knows of the deletion may make the document again.
        second.run("await client.discard((await client.parked())[0].origin); await notes.save({ id: 'a', title: 'z' })")
        self.sent(second)
        self.assertEqual(self.documents()["a"]["title"], "z")

    def test_a_conditional_write_of_a_changed_document_is_parked(self):
        first, second = self.tab(), self.tab(self.browser.context())
        first.run("await notes.save({ id: 'a', title: 'x' }); await client.whenSent()")
        self.eventually(lambda: len(self.seen(second)), 1)
        self.proxy.refuses = True
        self.proxy.cut()
        second.run("await notes.update('a', { title: 'second' }, { ifUnchanged: true })")
        self.hub.request("PATCH", "/v1/collections/notes/documents/a", self.token, {"title": "other"})
        self.proxy.refuses = False
        second.run("client.retryNow()")
        self.eventually(lambda: second.run("return (await client.parked()).map((each) => each.reason)"), ["conflict"])
        self.assertEqual(self.documents()["a"]["title"], "other")
        self.eventually(lambda: first.run("client.retryNow(); seen[0].title"), "other")
        second.run("await client.retry((await client.parked())[0].origin)")
        self.sent(second)
        self.assertEqual(self.documents()["a"]["title"], "second")


class FailureTests(BrowserTestCase):
    def test_a_killed_hub_has_applied_each_write_once(self):
        page, other = self.tab(), self.tab(self.browser.context())
        stop = threading.Event()

        def kill_often():
            generator = random.Random(SEED)
            while not stop.wait(0.3 + generator.random()):
                self.hub.kill()
                time.sleep(generator.random() * 0.3)
                self.hub.start()

        killer = threading.Thread(target=kill_often)
        killer.start()
        try:
            for start in range(0, 600, 50):
                page.run(MAKE, start, start + 50)
                page.run("client.retryNow()")
                other.run("client.retryNow()")
                time.sleep(0.5)
        finally:
            stop.set()
            killer.join()
        page.run("client.retryNow()")
        self.sent(page)
        self.assertEqual(page.run("return (await client.parked()).length"), 0)
        other.run("client.retryNow()")
        self.assertEqual(
            {key: each["number"] for key, each in self.documents().items()},
            {f"n{number % 20}": number for number in range(580, 600)})
        self.eventually(lambda: self.seen(other) == self.documents(), True, seconds=60)

    def faults(self, seed):
        """Clients behind a network that delays, cuts, half-opens and throttles end up equal, and as the hub.

        Each tab also counts in a document of its own, which nobody can refuse.
        """
        proxies = [Proxy(self.hub.port, seed * 10 + number) for number in range(3)]
        contexts = [self.browser.context() for _ in proxies]
        pages = [self.tab(context, proxy=proxy) for context, proxy in zip(contexts, proxies)]
        # Two tabs of the first client.
        pages.append(self.tab(contexts[0], proxy=proxies[0]))
        generator = random.Random(seed)
        for count in range(25):
            for page in pages:
                page.run("await notes.save({ id: arguments[0], count: arguments[1] })", f"own{pages.index(page)}", count)
                operations = [
                    [generator.choice(["save", "save", "update", "delete"]), f"n{generator.randrange(12)}",
                     {f"f{generator.randrange(3)}": generator.randrange(1000)}] for _ in range(generator.randrange(5))]
                page.run("""for (const [operation, id, fields] of arguments[0]) {
                    if (operation === 'save') await notes.save({ id, ...fields });
                    if (operation === 'update') await notes.update(id, fields);
                    if (operation === 'delete') await notes.delete(id);
                }""", operations)
                if generator.random() < 0.1:
                    page.reload()
                    self.open(page, proxy=proxies[min(pages.index(page) % 3, 2)])
                if generator.random() < 0.3:
                    page.run("client.retryNow()")
            time.sleep(generator.random() * 0.4)
        for proxy in proxies:
            proxy.heal()
        for page in pages:
            # What is parked stands for itself; the rest of the documents must be equal.
            page.run("client.retryNow()")
        for page in pages:
            page.run("""for (;;) {
                const parked = await client.parked();
                if (parked.length === 0 && client.status.pending === 0) return;
                for (const { origin } of parked) await client.discard(origin).catch(() => {});
                await new Promise((resolve) => setTimeout(resolve, 50));
            }""", seconds=120)
        for number in range(len(pages)):
            self.assertEqual(self.documents()[f"own{number}"]["count"], count)
        for page in pages:
            self.eventually(lambda: self.seen(page), self.documents(), seconds=60)
            self.assertEqual({each["id"]: each for each in page.run("return await notes.all()")}, self.documents())
        print(f"\n  seed {seed}: {sum(proxy.accepted for proxy in proxies)} connections", end=" ")
        for proxy in proxies:
            proxy.close()

    def test_a_bad_network(self):
        self.faults(SEED)

    def test_another_bad_network(self):
        self.faults(SEED + 1)

    def test_a_third_bad_network(self):
        self.faults(SEED + 2)

    def test_a_hub_that_was_put_back_to_a_backup_gets_what_it_has_lost(self):
        page, other = self.tab(), self.tab(self.browser.context())
        page.run("await notes.save({ id: 'a', n: 1 }); await notes.save({ id: 'b', n: 1 }); await client.whenSent()")
        self.eventually(lambda: len(self.seen(other)), 2)
        self.hub.stop()
        self.hub.back_up()
        self.hub.start()
        for each in (page, other):
            each.run("client.retryNow()")
        page.run("await notes.save({ id: 'a', n: 2 }); await notes.save({ id: 'c', n: 2 }); await client.whenSent()")
        self.eventually(lambda: len(self.seen(other)), 3)
        self.hub.stop()
        page.run("await notes.save({ id: 'd', n: 3 })")
        self.hub.restore()
        self.hub.start()
        # The other one has received what the hub doesn't know any more.
        other.run("client.retryNow()")
        self.eventually(lambda: {key: each["n"] for key, each in self.seen(other).items()}, {"a": 1, "b": 1})
        page.run("client.retryNow()")
        self.sent(page)
        expected = {"a": 2, "b": 1, "c": 2, "d": 3}
        for each in (page, other):
            self.eventually(lambda: {key: note["n"] for key, note in self.seen(each).items()}, expected)
        self.assertEqual({key: each["n"] for key, each in self.documents().items()}, expected)
        self.assertEqual(page.run("[client.status.parked, client.status.hasLostWrites]"), [0, False])

    def test_an_older_copy_of_a_hub_halts_until_a_reset(self):
        page = self.tab()
        page.run("await notes.save({ id: 'a', n: 1 }); await client.whenSent()")
        self.hub.stop()
        copy = pathlib.Path(self.folder) / "copy"
        copy.mkdir()
        for file in pathlib.Path(self.folder).glob("hub.sqlite*"):
            shutil.copy(file, copy)
        self.hub.start()
        page.run("client.retryNow(); await notes.save({ id: 'b', n: 1 }); await client.whenSent()")
        self.eventually(lambda: page.run("[...snapshot.pending]"), [])
        self.hub.stop()
        for file in pathlib.Path(self.folder).glob("hub.sqlite*"):
            file.unlink()
        for file in copy.iterdir():
            shutil.copy(file, self.folder)
        self.hub.start()
        page.run("client.retryNow(); await notes.save({ id: 'c', n: 1 })")
        self.eventually(lambda: page.run("client.status.state"), "halted")
        self.assertEqual(sorted(self.seen(page)), ["a", "b", "c"])
        self.assertEqual(page.run("client.status.hasLostWrites"), False)
        page.run("await client.reset(); await client.whenSent()")
        self.eventually(lambda: self.seen(page), self.documents())
        self.assertEqual(sorted(self.documents()), ["a", "c"])
        # Nobody sends `b` again.
        self.eventually(lambda: page.run("client.status.hasLostWrites"), True)

    def test_a_hub_that_asks_for_time_gets_it(self):
        self.proxy.answer = lambda request: cors(
            request, self.site.origin, "503 Service Unavailable", ["Retry-After: 4"])
        page = self.tab()
        self.eventually(lambda: page.run("client.status.state"), "waiting")
        self.proxy.answer = None
        started = time.monotonic()
        # A network that comes back doesn't shorten what the hub has asked for.
        page.run("dispatchEvent(new Event('online'))")
        self.eventually(lambda: page.run("client.status.state"), "online")
        self.assertGreater(time.monotonic() - started, 3)

    def test_a_silent_stream_is_opened_again(self):
        page = self.tab()
        # What is asked for behind the first load is the stream.
        self.eventually(lambda: page.run("globalThis.snapshot?.isLoaded"), True)
        self.proxy.freeze()
        self.hub.request("PUT", "/v1/collections/notes/documents/a", self.token, {"title": "x"})
        self.eventually(lambda: page.run("client.status.lastError?.message ?? ''").startswith("The hub was silent"), True, seconds=40)
        page.run("client.retryNow()")
        self.eventually(lambda: list(self.seen(page)), ["a"])

    def test_without_a_hub_it_is_asked_less_and_less(self):
        self.proxy.refuses = True
        page = self.tab()
        time.sleep(8)
        # Browsers try a connection that is closed again by themselves.
        self.assertLess(self.proxy.accepted, 40)
        self.assertEqual(page.run("client.status.online"), False)


class ExampleTests(BrowserTestCase):
    def test_the_notes_page_follows_and_edits(self):
        site = Site({f"/{name}": NOTES / name for name in ("index.html", "app.js", "notes.css")} | {"/storagekit.js": CLIENT})
        self.addCleanup(site.close)
        # The page takes the client from the hub, which must know the page's origin.
        self.hub.stop()
        self.hub.origin = site.origin
        self.hub.start()
        page = self.browser.page(site.origin + "/index.html", self.browser.context())
        self.pages.append(page)
        self.eventually(lambda: page.run("document.querySelector('dialog').open"), True)
        page.run("""const { url, token } = document.querySelector('dialog form').elements;
            [url.value, token.value] = arguments; document.querySelector('dialog button').click()""", self.proxy.url, self.token)
        self.eventually(lambda: page.run("document.querySelector('#status').textContent"), "online")
        page.run("const form = document.querySelector('#new'); form.elements.title.value = '<b>Milk'; form.requestSubmit(); return 0")
        self.eventually(lambda: [each["title"] for each in self.documents().values()], ["<b>Milk"])
        [id] = self.documents()
        self.hub.request("PATCH", f"/v1/collections/notes/documents/{id}", self.token, {"title": "Oat milk", "done": True})
        shown = "[...document.querySelectorAll('#notes li')].map((item) => [item.className.trim(), item.children[1].value])"
        self.eventually(lambda: page.run(shown), [["done", "Oat milk"]])
        page.run("document.querySelector('#notes [type=checkbox]').click()")
        self.eventually(lambda: self.documents()[id]["done"], False)
        page.run("document.querySelector('#notes button').click()")
        self.eventually(lambda: self.documents(), {})
        self.eventually(lambda: page.run(shown), [])


class AccessTests(BrowserTestCase):
    def test_without_a_valid_token_it_waits_for_another(self):
        page = self.tab(token="sk_wrong")
        self.eventually(lambda: page.run("client.status.state"), "unauthorized")
        page.run("await notes.save({ id: 'a' })")
        self.assertEqual(page.run("client.status.lastError.code"), "unauthorized")
        page.run("client.setToken(arguments[0])", self.token)
        self.sent(page)
        self.assertEqual(list(self.documents()), ["a"])

    def test_a_token_is_asked_for_when_one_was_refused(self):
        page = self.tab(database="other")
        page.run("""await client.close();
            globalThis.asked = 0;
            client = new StorageKitClient({ url: arguments[0], database: 'asked', getToken: async () => [null, 'sk_old', arguments[1]][asked += 1] ?? null });
            globalThis.notes = client.collection('notes');
            await notes.save({ id: 'a' }); await client.whenSent()""", self.proxy.url, self.token)
        self.assertEqual(page.run("asked"), 2)
        self.assertEqual(list(self.documents()), ["a"])

    def test_a_token_is_asked_for_again_where_that_has_failed(self):
        page = self.tab(database="other")
        page.run("""await client.close();
            globalThis.asked = 0;
            const getToken = async () => {
                asked += 1;
                if (asked === 1) throw new Error('Nobody is there.');
                return asked === 2 ? 'sk_older' : token;
            };
            const [url, token] = arguments;
            client = new StorageKitClient({ url, token: 'sk_old', database: 'failing', getToken });
            globalThis.notes = client.collection('notes');
            await notes.save({ id: 'a' });""", self.proxy.url, self.token)
        self.eventually(lambda: page.run("[client.status.state, asked]"), ["unauthorized", 2])
        page.run("client.retryNow(); await client.whenSent()")
        self.assertEqual(page.run("asked"), 3)
        self.assertEqual(list(self.documents()), ["a"])

    def test_a_token_that_shows_other_documents_is_followed_from_the_beginning(self):
        for id, n in (("a", 1), ("b", 5), ("c", 9)):
            self.hub.request("PUT", f"/v1/collections/notes/documents/{id}", self.token, {"n": n})
        self.hub.request("PUT", "/v1/collections/tasks/documents/t", self.token, {"n": 1})
        page = self.tab(token=self.hub.token("bob", "--write", "notes", "--write", "tasks", "--where", "notes: n < 6"))
        page.run("globalThis.tasks = client.collection('tasks')")
        tasks = lambda: page.run("return (await tasks.all()).map((each) => each.id)")
        self.eventually(lambda: (sorted(self.seen(page)), tasks()), (["a", "b"], ["t"]))

        def replace(token, script=""):
            self.proxy.refuses = True
            self.proxy.cut()
            page.run(f"{script}; client.setToken(arguments[0])", token)
            self.proxy.refuses = False
            page.run("client.retryNow()")

        replace(
            self.hub.token("bob", "--write", "notes", "--where", "notes: n > 3"),
            "await notes.update('b', { mine: true })")
        self.eventually(lambda: (sorted(self.seen(page)), tasks()), (["b", "c"], []))
        self.sent(page)
        self.assertEqual(self.documents()["b"], {"id": "b", "n": 5, "mine": True})
        # What happens while it can't be seen is there when it can be seen again.
        self.hub.request("PUT", "/v1/collections/tasks/documents/u", self.token, {"n": 1})
        self.hub.request("DELETE", "/v1/collections/tasks/documents/t", self.token)
        self.hub.request("PUT", "/v1/collections/notes/documents/d", self.token, {"n": 4})
        self.eventually(lambda: sorted(self.seen(page)), ["b", "c", "d"])
        replace(self.hub.token("bob", "--write", "notes", "--write", "tasks", "--where", "notes: n > 3"))
        self.eventually(lambda: (sorted(self.seen(page)), tasks()), (["b", "c", "d"], ["u"]))

    def test_another_tab_can_bring_the_token(self):
        first = self.tab(token="sk_wrong")
        second = self.tab(token="sk_wrong")
        self.eventually(lambda: second.run("client.status.state"), "unauthorized")
        second.run("await notes.save({ id: 'a' }); client.setToken(arguments[0]); await client.whenSent()", self.token)
        self.assertEqual(list(self.documents()), ["a"])
        self.assertEqual(first.run("client.status.state"), "online")

    def test_a_token_that_may_not_write_parks_and_one_that_may_not_read_sends(self):
        reader = self.tab(self.browser.context(), token=self.hub.token("reader", "--read", "*"))
        writer = self.tab(self.browser.context(), token=self.hub.token("writer", "--write-only", "*"))
        for page in (reader, writer):
            page.run("client.retryNow()")
        writer.run("await notes.save({ id: 'a', n: 1 }); await client.whenSent()")
        self.eventually(lambda: self.seen(reader), {"a": {"id": "a", "n": 1}})
        self.eventually(lambda: writer.run("[...snapshot.pending]"), [])
        self.assertEqual(writer.run("client.status.lastError.code"), "forbidden")
        reader.run("await notes.save({ id: 'b', n: 1 })")
        self.eventually(lambda: reader.run("return (await client.parked()).map((each) => each.reason)"), ["invalid"])
        self.assertEqual(list(self.documents()), ["a"])

    def test_a_token_of_another_name_halts_until_a_reset(self):
        page = self.tab()
        page.run("await notes.save({ id: 'a', n: 1 }); await client.whenSent()")
        self.hub.stop()
        self.eventually(lambda: page.run("client.status.online"), False)
        page.run("await notes.save({ id: 'b', n: 1 }); client.setToken(arguments[0])", self.hub.token("grace"))
        self.hub.start()
        page.run("client.retryNow()")
        self.eventually(lambda: page.run("client.status.state"), "halted")
        page.run("await client.reset(); await client.whenSent()")
        self.assertEqual(sorted(self.documents()), ["a", "b"])
        self.eventually(lambda: sorted(self.seen(page)), ["a", "b"])

    def test_one_of_two_copies_of_a_database_halts(self):
        self.one_of_two_copies_halts(begins_session=True)

    def test_one_of_two_copies_in_one_session_halts(self):
        self.one_of_two_copies_halts(begins_session=False)

    def test_one_of_two_copies_in_one_session_with_several_batches_halts(self):
        self.one_of_two_copies_halts(begins_session=False, batches=2)

    def test_a_tab_with_an_earlier_client_halts_no_other(self):
        page = self.tab()
        page.run("await notes.save({ id: 'a' }); await client.whenSent(); await client.close()")
        kept = page.run(KEEP_SESSION, " " + self.id(), {})
        page.run(LOSE_ANSWER)
        self.open(page)
        page.run("await notes.save({ id: 'b' })")
        self.eventually(lambda: page.run("isHeld"), True)
        page.run("await client.close()")
        page.run(KEEP_SESSION, " " + self.id(), kept)
        page.run("release()")
        self.open(page)
        page.run("await notes.save({ id: 'c' })")
        self.eventually(lambda: sorted(self.documents()), ["a", "b", "c"])
        self.assertEqual(page.run("client.status.state"), "online")

    def one_of_two_copies_halts(self, begins_session, batches=1):
        page = self.tab()
        page.run("await notes.save({ id: 'a' }); await client.whenSent()")
        self.eventually(lambda: list(self.seen(page)), ["a"])
        page.run(SEND_AS_COPY, self.proxy.url, self.token, " " + self.id(), begins_session, batches)
        # In one batch, which has as many numbers as those of the copy.
        page.run("await Promise.all(['c', 'd', 'e'].map((id) => notes.save({ id })))")
        self.eventually(lambda: page.run("client.status.state"), "halted")
        self.assertEqual(sorted(self.documents()), ["a", "b"])
        self.assertEqual(page.run("client.status.pending"), 3)
        page.run("await client.reset()")
        page.run("for (const { origin } of await client.parked()) await client.retry(origin)")
        page.run("await client.whenSent()")
        self.assertEqual(sorted(self.documents()), ["a", "b", "c", "d", "e"])

    def test_a_page_without_locks_gets_an_error(self):
        page = self.browser.page(f"http://plain.test:{self.site.port}/")
        self.pages.append(page)
        self.assertEqual(
            page.run("try { new StorageKitClient({ url: 'http://127.0.0.1', token: 'x' }) } catch (error) { return error.code }"),
            "unsupported")

    def test_a_closed_client_says_so(self):
        page = self.tab()
        page.run("await client.close()")
        self.assertEqual(page.run("return await notes.all().catch((error) => error.code)"), "closed")
        self.assertEqual(page.run("return await notes.save({}).catch((error) => error.code)"), "closed")
        self.assertEqual(page.run("return (await navigator.locks.query()).held.length"), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
