/**
 * A client of a StorageKit hub for browsers: follows collections, and writes through an outbox that survives reloads.
 *
 * ```js
 * import { StorageKitClient } from "/storagekit.js";
 *
 * const client = new StorageKitClient({ url: "https://hub.example", token });
 * const notes = client.collection("notes");
 * notes.subscribe((documents) => show(documents));
 * await notes.save({ id: "1", title: "Milk" });
 * ```
 *
 * Reads and writes are local: they use IndexedDB, and work without a network. Of all tabs that use one database, the one
 * that holds its lock talks to the hub: it sends the writes of all tabs, and follows the collections for all of them.
 *
 * A live query (`Collection.live`) asks the hub instead, and is kept up to date while it is followed: for collections that are too
 * large to be stored here.
 *
 * Always true:
 * 1. A write is stored before `save`, `update` and `delete` resolve, and is applied by the hub once, or parked with the reason.
 * 2. The writes of a document reach the hub in the order in which they were made. Behind a parked one the others wait.
 * 3. Documents and the position up to which they were received are stored in the same transaction.
 *
 * Numbers are those of JavaScript: integers beyond 2^53 lose digits.
 *
 * No dependency, no `eval`; under a content security policy it needs `connect-src` for the hub.
 *
 * @module
 */

/** How many writes, and bytes of them, are sent at once. */
const BATCH_WRITES = 500;
const BATCH_BYTES = 256 * 1024;
/** How long an answer may take. */
const REQUEST_MS = 60_000;
/** How long a stream may be silent. The hub says something every ten seconds. */
const SILENCE_MS = 30_000;
/** The longest time that a hub can ask for before it is asked again. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * Why something wasn't done.
 *
 * `code` is one of the hub's problem codes (`unauthorized`, `invalid`, …), or one of the client's own: `unsupported` (the
 * browser lacks something), `storage` (IndexedDB has failed), `network` (no answer), `protocol` (an answer that makes no
 * sense), `halted` (see `StorageKitClient.reset`), `closed`.
 */
export class StorageKitError extends Error {
    /**
     * @param {string} code
     * @param {string} message What happened, and what to do.
     * @param {{ status?: number, epoch?: number, retryAfterMs?: number, cause?: unknown, hubWentBack?: boolean }} [details]
     */
    constructor(code, message, { status = 0, epoch, retryAfterMs = 0, cause, hubWentBack = false } = {}) {
        super(message, { cause });
        this.name = "StorageKitError";
        this.code = code;
        /** The answer's HTTP status; 0 where there was none. */
        this.status = status;
        this.epoch = epoch;
        this.retryAfterMs = retryAfterMs;
        /** @internal Whether the hub may not have writes any more that it has taken. */
        this.hubWentBack = hubWentBack;
    }
}

// MARK: Client

/**
 * @typedef {object} Status
 * @property {"starting" | "connecting" | "online" | "waiting" | "unauthorized" | "halted" | "closed"} state `waiting` for the
 *   next attempt; `unauthorized` until there is another token; `halted` until `reset`.
 * @property {boolean} online Whether there is a session with the hub.
 * @property {number} pending Writes that the hub hasn't taken yet.
 * @property {number} parked Writes that it has refused, see `StorageKitClient.parked`.
 * @property {boolean} hasLostWrites Whether the hub was put back to a backup that lacks writes which this client doesn't keep
 *   any more.
 * @property {{ code: string, message: string } | null} lastError Why there is no session, or no reading; null once it works.
 */

/**
 * @typedef {object} ParkedWrite
 * @property {number} origin Names the write, for `retry` and `discard`.
 * @property {string} collection
 * @property {string} id Of the document.
 * @property {"save" | "patch" | "delete"} operation
 * @property {object} [fields] What was written.
 * @property {"deleted" | "missing" | "conflict" | "unknown" | "invalid"} reason `deleted`: another client has deleted the document;
 *   `missing`: there is none to update; `conflict`: see `ifUnchanged`; `unknown`: it was sent, and the hub doesn't know its
 *   outcome; `invalid`: the hub's own check of it.
 * @property {string} [detail] What the hub says.
 */

/**
 * A connection to a hub, with a local database.
 *
 * Fires `status` events, whose `detail` is a {@link Status}.
 */
export class StorageKitClient extends EventTarget {
    #store;
    #hub;
    #channel;
    #database;
    #views = new Map();
    #liveQueries = new Set();
    #status = {
        state: "starting", online: false, pending: 0, parked: 0, hasLostWrites: false, lastError: null,
    };
    #isLeader = false;
    #isCounting = false;
    #isCountWanted = false;
    #stopped = new AbortController();
    /** Something is to be sent, nothing is to be waited for, and another collection is to be followed. */
    #bells = { work: new Bell(), now: new Bell(), follow: new Bell() };

    /**
     * @param {object} options
     * @param {string} options.url The hub's address, without a slash at its end.
     * @param {string} [options.token] A token of the hub.
     * @param {() => Promise<string | null>} [options.getToken] Asked for a token before the first request, and when the hub
     *   has refused the last one. Where it fails it is asked again later, and by `retryNow` at once.
     * @param {string} [options.database] Names the local database. Use one for each account: every page that opens it shows
     *   its content.
     * @param {number} [options.keptWrites] How many confirmed writes are kept, for a hub that is put back to a backup.
     * @throws {StorageKitError} `unsupported` where the browser, or the page, can't have an outbox.
     */
    constructor({ url, token = null, getToken = null, database = "default", keptWrites = 1_000 }) {
        super();
        for (const [name, found] of [
            ["IndexedDB", globalThis.indexedDB], ["Web Locks", globalThis.navigator?.locks],
            ["BroadcastChannel", globalThis.BroadcastChannel], ["AbortSignal.any", globalThis.AbortSignal?.any],
        ]) {
            if (found) continue;
            throw new StorageKitError(
                "unsupported",
                `This page can't use ${name}. Serve it over HTTPS or from localhost, and use a current browser.`);
        }
        const address = String(url).replace(/\/+$/, "");
        this.#database = `storagekit ${address} ${database}`;
        this.#hub = new Hub(address, token, getToken);
        this.#store = new LocalStore(this.#database, keptWrites);
        this.#channel = new BroadcastChannel(this.#database);
        this.#channel.onmessage = ({ data }) => this.#hear(data);
        this.#channel.postMessage({ kind: "joined" });
        globalThis.addEventListener?.("online", this.#onNetwork);
        this.#count();
        this.#waitForTheLock();
    }

    /** @returns {Status} */
    get status() {
        return { ...this.#status };
    }

    /**
     * A collection of the hub, which this and later clients of the database follow.
     *
     * @param {string} name
     * @param {{ key?: string }} [options] `key`: the field in which documents have their id.
     * @returns {Collection}
     */
    collection(name, { key = "id" } = {}) {
        if (typeof name !== "string" || name === "") throw new TypeError("A collection has a name.");
        this.#do(async () => {
            if (await this.#store.follow(name)) this.#tell({ kind: "follow" });
        }).catch((error) => this.#report(error));
        return new Collection(this, name, key);
    }

    /** Uses another token, in all tabs of the database. */
    setToken(token) {
        this.#tell({ kind: "token", token });
    }

    /** Asks the hub again at once, after a failure that would be waited out. */
    retryNow() {
        this.#tell({ kind: "now" });
    }

    /** @returns {Promise<ParkedWrite[]>} The writes that the hub has refused, in the order in which they were made. */
    async parked() {
        return this.#do(() => this.#store.parked());
    }

    /**
     * Sends a parked write again, knowing what was received meanwhile. An update of a document that isn't there any more is parked
     * again: `save` creates the document, once the update is discarded.
     * @param {number} origin
     */
    async retry(origin) {
        await this.#change(() => this.#store.retry(origin));
    }

    /**
     * Gives a parked write up: the document is shown without it.
     * @param {number} origin
     */
    async discard(origin) {
        await this.#change(() => this.#store.discard(origin));
    }

    /** Resolves once there is no write that the hub hasn't taken or refused. */
    async whenSent() {
        while ((await this.#do(() => this.#store.counts())).pending > 0) await this.#next("changed");
    }

    /**
     * Starts over as another producer: everything is received again. This is what a halted client needs: its database is an
     * older copy of itself or one of two copies, its token has another name than before, or the hub was replaced by an older copy of itself.
     *
     * @param {{ keepWrites?: boolean }} [options] Whether unsent writes are kept. Those that were sent, and have no outcome yet,
     *   are parked as `unknown` then.
     */
    async reset({ keepWrites = true } = {}) {
        await this.#do(() => this.#store.reset(keepWrites));
        this.#tell({ kind: "written", documents: null });
        this.#tell({ kind: "now" });
    }

    /** Ends the client in this tab. Unsent writes stay, and are sent by another tab or a later client. */
    async close() {
        if (this.#stopped.signal.aborted) return;
        this.#stopped.abort(new StorageKitError("closed", "The client was closed."));
        globalThis.removeEventListener?.("online", this.#onNetwork);
        this.#channel.close();
        this.#setStatus({ state: "closed", online: false });
        await this.#store.close();
    }

    // MARK: Tabs

    #onNetwork = () => {
        this.#bells.now.ring("network");
        this.#wakeLiveQueries();
    };

    #wakeLiveQueries() {
        for (const query of this.#liveQueries) query._retryNow();
    }

    /** Says something to all tabs, and to this one. */
    #tell(message) {
        if (this.#stopped.signal.aborted) return;
        this.#channel.postMessage(message);
        this.#hear(message);
    }

    #hear(message) {
        switch (message.kind) {
            case "written":
                this.#refresh(message.documents);
                this.#bells.work.ring();
                break;
            case "received":
                this.#refresh(message.documents);
                break;
            case "follow":
                this.#bells.follow.ring();
                break;
            case "now":
                this.#hub.mayRenewToken();
                this.#bells.now.ring();
                this.#wakeLiveQueries();
                break;
            case "token":
                this.#hub.token = message.token;
                this.#bells.now.ring();
                this.#wakeLiveQueries();
                break;
            case "status":
                if (!this.#isLeader) this.#setStatus(message.status);
                break;
            case "joined":
                if (this.#isLeader) this.#sayStatus();
                break;
        }
    }

    /** @param {Partial<Status>} change */
    #setStatus(change) {
        const before = JSON.stringify(this.#status);
        Object.assign(this.#status, change);
        if (JSON.stringify(this.#status) === before) return;
        if (this.#isLeader) this.#sayStatus();
        this.dispatchEvent(new CustomEvent("status", { detail: this.status }));
    }

    #sayStatus() {
        if (this.#stopped.signal.aborted) return;
        this.#channel.postMessage({ kind: "status", status: this.#status });
    }

    #report(error) {
        if (this.#stopped.signal.aborted) return;
        const code = error instanceof StorageKitError ? error.code : "failed";
        this.#setStatus({ lastError: { code, message: String(error?.message ?? error) } });
    }

    /** Counts the outbox; again where it has changed meanwhile. */
    async #count() {
        this.#isCountWanted = true;
        if (this.#isCounting) return;
        this.#isCounting = true;
        while (this.#isCountWanted) {
            this.#isCountWanted = false;
            await this.#do(() => this.#store.counts()).then(
                (counts) => this.#setStatus(counts), (error) => this.#report(error));
        }
        this.#isCounting = false;
        this.dispatchEvent(new Event("changed"));
    }

    #next(name) {
        return new Promise((resolve, reject) => {
            const { signal } = this.#stopped;
            const abort = () => reject(signal.reason);
            signal.addEventListener("abort", abort);
            this.addEventListener(name, () => {
                signal.removeEventListener("abort", abort);
                resolve();
            }, { once: true, signal });
        });
    }

    // MARK: Local work

    async #do(work) {
        this.#stopped.signal.throwIfAborted();
        return work();
    }

    /** Changes the outbox, and notifies all tabs of the documents that changed. */
    async #change(work) {
        const documents = await this.#do(work);
        this.#tell({ kind: "written", documents });
    }

    /** @param {Map<string, string[] | null> | null} documents Ids by collection; null for all of them. */
    #refresh(documents) {
        for (const [name, view] of this.#views) {
            if (documents === null || documents.has(name)) view.refresh(documents?.get(name) ?? null);
        }
        this.#count();
    }

    /** @internal For `Collection`. */
    _read(collection, id) {
        return this.#do(() => this.#store.read(collection, id === undefined ? null : [id]));
    }

    /** @internal For `Collection`. */
    async _write(collection, id, operation, fields, isConditional) {
        await this.#change(() => this.#store.write({ collection, id, operation, fields, isConditional }));
    }

    /** @internal For `Collection`. */
    _subscribe(collection, listener) {
        this.#stopped.signal.throwIfAborted();
        let view = this.#views.get(collection);
        if (!view) {
            view = new View(
                (ids) => this.#do(() => this.#store.read(collection, ids)), (error) => this.#report(error));
            this.#views.set(collection, view);
        }
        view.add(listener);
        return () => {
            view.remove(listener);
            if (view.isUnused && this.#views.get(collection) === view) this.#views.delete(collection);
        };
    }

    /** @internal For `LiveQuery`: its hub, while it is followed. */
    _join(query) {
        this.#stopped.signal.throwIfAborted();
        this.#liveQueries.add(query);
        return this.#hub;
    }

    /** @internal For `LiveQuery`. */
    _leave(query) {
        this.#liveQueries.delete(query);
    }

    /** @internal For `Collection`. */
    get _closed() {
        return this.#stopped.signal;
    }

    // MARK: The tab that talks to the hub

    async #waitForTheLock() {
        const { signal } = this.#stopped;
        try {
            await navigator.locks.request(this.#database, { signal }, async () => {
                this.#isLeader = true;
                await this.#lead(signal);
            });
        } catch (error) {
            this.#report(error);
        }
    }

    async #lead(signal) {
        const session = new Session(this.#hub, this.#store, this.#bells, {
            onOpen: () => this.#setStatus({ state: "online", online: true, lastError: null }),
            onChanged: (documents) => this.#tell({ kind: "received", documents }),
            onProblem: (error) => this.#report(error),
        });
        while (!signal.aborted) {
            try {
                await this.#waitOut(signal);
                this.#setStatus({ state: "connecting", online: false });
                await session.run(signal);
            } catch (error) {
                if (signal.aborted) return;
                await this.#failed(error, signal).catch((problem) => this.#report(problem));
            }
        }
    }

    /** Waits until the hub may be asked again. */
    async #waitOut(signal) {
        let delay = await this.#store.delay();
        while (delay.ms > 0) {
            this.#setStatus({ state: "waiting", online: false });
            const why = await this.#bells.now.wait(signal, delay.ms);
            // A network that comes back may be another one; what the hub has asked for holds for it, too.
            if (why !== undefined && !(why === "network" && delay.isAskedFor)) await this.#store.forgetDelay();
            delay = await this.#store.delay();
        }
    }

    async #failed(error, signal) {
        if (error instanceof SessionOver) return;
        this.#report(error);
        // A hello is refused where a token may do nothing at all.
        let isRefused = error.code === "unauthorized" || error.code === "forbidden";
        try {
            if (isRefused && (await this.#hub.renewToken())) return;
        } catch (problem) {
            // Whoever gives tokens can't be reached, or has failed: that is tried again like the hub.
            this.#report(problem);
            isRefused = false;
        }
        if (error.hubWentBack) await this.#store.hubWentBack().catch((problem) => this.#report(problem));
        if (isRefused || error.code === "halted") {
            this.#setStatus({ state: isRefused ? "unauthorized" : "halted", online: false });
            while ((await this.#bells.now.wait(signal)) === "network");
            return;
        }
        this.#setStatus({ state: "waiting", online: false });
        // A store that can't be written to can't keep the delay either.
        const delay = await this.#store.failed(error).catch(() => 2_000);
        if (error.code === "storage") await this.#bells.now.wait(signal, delay);
    }
}

// MARK: Collection

/**
 * @typedef {object} Snapshot
 * @property {boolean} isLoaded Whether the collection was received as a whole before.
 * @property {Set<string>} pending The ids of documents with writes that the hub hasn't confirmed.
 */

/** Documents of one kind: objects of JSON values, with an id each. Made by `StorageKitClient.collection`. */
export class Collection {
    #client;
    #key;

    /** @internal */
    constructor(client, name, key) {
        this.#client = client;
        this.#key = key;
        /** @readonly */
        this.name = name;
    }

    /**
     * A document as it is here, with the writes that the hub hasn't confirmed.
     * @returns {Promise<object | undefined>}
     */
    async get(id) {
        const { documents } = await this.#client._read(this.name, String(id));
        return this.#document(String(id), documents.get(String(id)));
    }

    /** @returns {Promise<object[]>} All documents, by id. Before the first connection there are none but those written here. */
    async all() {
        return this.#list((await this.#client._read(this.name)).documents);
    }

    /**
     * Creates or replaces a document. Null fields aren't stored.
     *
     * @param {object} document Gets a random id if it has none.
     * @param {{ ifUnchanged?: boolean }} [options] Whether the write is parked as a `conflict` if another client has
     *   changed the document since this client received it.
     * @returns {Promise<string>} The id, once the write is stored here.
     */
    async save(document, { ifUnchanged = false } = {}) {
        const { [this.#key]: given, ...fields } = asJSON(document);
        // In upper case, as in a table whose key is a UUID.
        const id = this.#id(given ?? crypto.randomUUID().toUpperCase());
        await this.#client._write(this.name, id, "save", merged({}, fields), ifUnchanged);
        return id;
    }

    /**
     * Changes some fields of a document; null removes one. A field is replaced as a whole, also where it is an object.
     *
     * @param {string} id
     * @param {object} patch
     * @param {{ ifUnchanged?: boolean }} [options] See `save`.
     */
    async update(id, patch, { ifUnchanged = false } = {}) {
        const { [this.#key]: _, ...fields } = asJSON(patch);
        await this.#client._write(this.name, this.#id(id), "patch", fields, ifUnchanged);
    }

    /**
     * Deletes a document. Later writes of others who don't know of it are refused.
     *
     * @param {string} id
     * @param {{ ifUnchanged?: boolean }} [options] See `save`.
     */
    async delete(id, { ifUnchanged = false } = {}) {
        await this.#client._write(this.name, this.#id(id), "delete", undefined, ifUnchanged);
    }

    /**
     * Follows the collection: the callback gets all documents, by id, now and after each change from any source.
     *
     * @param {(documents: object[], snapshot: Snapshot) => void} callback
     * @returns {() => void} Ends it.
     */
    subscribe(callback) {
        return this.#client._subscribe(this.name, ({ documents, pending, isLoaded }) =>
            callback(this.#list(documents), { isLoaded, pending: new Set(pending) }));
    }

    /** Follows the collection: `for await (const documents of collection)`. States in between may be left out. */
    async *[Symbol.asyncIterator]() {
        const bell = new Bell();
        let latest = [];
        const stop = this.subscribe((documents) => {
            latest = documents;
            bell.ring();
        });
        try {
            for (;;) {
                await bell.wait(this.#client._closed);
                yield latest;
            }
        } catch (error) {
            if (!this.#client._closed.aborted) throw error;
        } finally {
            stop();
        }
    }

    /**
     * A query of the hub whose result is kept up to date while it is followed.
     *
     * @param {Query} [query] All documents where it is left out.
     * @returns {LiveQuery}
     */
    live(query = {}) {
        if (query === null || typeof query !== "object" || Array.isArray(query)) throw new TypeError("A query is an object.");
        return new LiveQuery(this.#client, this.name, this.#key, structuredClone(query));
    }

    #id(id) {
        if (String(id) === "") throw new TypeError("An id isn't empty.");
        return String(id);
    }

    #document(id, fields) {
        return fields && { ...structuredClone(fields), [this.#key]: id };
    }

    #list(documents) {
        return [...documents.keys()].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
            .map((id) => this.#document(id, documents.get(id)));
    }
}

// MARK: Live query

/**
 * @typedef {object} Query What is asked of the hub. A document without a field that is named doesn't match.
 * @property {{ field: string, operator: "==" | "!=" | "<" | "<=" | ">" | ">=" | "array-contains" | "array-contains-any" | "in"
 *   | "not-in", value: any }[]} [filters] All have to be met. Dots lead into nested objects.
 * @property {{ field: string, descending?: boolean }[]} [orders]
 * @property {number} [limit] Only the first documents.
 * @property {number} [limitToLast] Only the last documents.
 * @property {any[]} [startAt] A value for each order, or for the first ones.
 * @property {any[]} [startAfter]
 * @property {any[]} [endAt]
 * @property {any[]} [endBefore]
 */

/**
 * The result of a query, as the hub has it. Made by `Collection.live`.
 *
 * ```js
 * const open = notes.live({ filters: [{ field: "done", operator: "==", value: false }], orders: [{ field: "due" }], limit: 20 });
 * const stop = open.subscribe((documents) => show(documents));
 * ```
 *
 * Unlike a collection it is stored nowhere: it needs a network, receives only the documents of the result, and shows a write of
 * this client once the hub has taken it. A lost connection is made again, and receives what was missed.
 *
 * While it is followed it has a connection of its own, which all who follow the same object share. By HTTP/1.1 a browser has six
 * connections to one host, in all tabs; a proxy that speaks HTTP/2 before the hub has room for more.
 */
export class LiveQuery {
    #client;
    #collection;
    #key;
    #query;
    #listeners = new Set();
    #bell = new Bell();
    /** Ends what is under way; null while it isn't followed. */
    #stop = null;
    #documents = [];
    #position = 0;
    /** The id of the last event; null where there is nothing to resume from. */
    #id = null;
    #retryMs = 1_000;

    /** @internal */
    constructor(client, collection, key, query) {
        this.#client = client;
        this.#collection = collection;
        this.#key = key;
        this.#query = query;
    }

    /**
     * Follows the result: the callback gets all its documents in their order, now and after each change. Documents that haven't
     * changed are the same objects as before; don't change them.
     *
     * @param {(documents: object[], snapshot: { position: number }) => void} callback `position`: of the hub, which the documents
     *   reflect.
     * @param {(error: StorageKitError, willRetry: boolean) => void} [onError] Why it isn't up to date. Unless it is tried again,
     *   it isn't followed any more, for example because the token may not read the collection, or the query is invalid.
     * @returns {() => void} Ends it.
     */
    subscribe(callback, onError = () => {}) {
        const hub = this.#client._join(this);
        const listener = { callback, onError };
        this.#listeners.add(listener);
        if (this.#stop === null) {
            this.#stop = new AbortController();
            this.#run(hub, this.#stop);
        } else if (this.#id !== null) {
            queueMicrotask(() => this.#call(listener));
        }
        return () => {
            this.#listeners.delete(listener);
            if (this.#listeners.size === 0) this.#end();
        };
    }

    /**
     * Follows the result: `for await (const documents of query)`. States in between may be left out.
     * @throws {StorageKitError} Where it isn't tried again, see `subscribe`.
     */
    async *[Symbol.asyncIterator]() {
        const bell = new Bell();
        let [latest, failure] = [null, null];
        const stop = this.subscribe(
            (documents) => {
                latest = documents;
                bell.ring();
            },
            (error, willRetry) => {
                if (willRetry) return;
                failure = error;
                bell.ring();
            });
        try {
            for (;;) {
                await bell.wait(this.#client._closed);
                if (failure) throw failure;
                yield latest;
            }
        } catch (error) {
            if (!this.#client._closed.aborted) throw error;
        } finally {
            stop();
        }
    }

    /** @internal For `StorageKitClient`. */
    _retryNow() {
        this.#bell.ring();
    }

    #end() {
        this.#stop?.abort();
        this.#stop = null;
        this.#client._leave(this);
        // What is followed again later starts over, and holds nothing until then.
        [this.#documents, this.#id, this.#position] = [[], null, 0];
    }

    async #run(hub, stop) {
        const signal = AbortSignal.any([stop.signal, this.#client._closed]);
        let failures = 0;
        while (!signal.aborted) {
            this.#bell.clear();
            try {
                const path = `/v1/collections/${encodeURIComponent(this.#collection)}/query`;
                for await (const event of hub.events(path, signal, { body: this.#query, after: this.#id })) {
                    this.#take(event, stop);
                    failures = 0;
                }
                throw new StorageKitError("network", "The hub has ended the live query.");
            } catch (error) {
                if (signal.aborted) return;
                if (error.code === "protocol") this.#id = null;
                failures += 1;
                const willRetry = !FINAL_CODES.has(error.code);
                await this.#fail(hub, signal, error, willRetry, failures);
            }
        }
    }

    /** Reports a failure, and waits until it may be tried again. */
    async #fail(hub, signal, error, willRetry, failures) {
        let isRefused = error.code === "unauthorized";
        try {
            if (isRefused && (await hub.renewToken())) return;
        } catch (problem) {
            // Whoever gives tokens can't be reached: that is tried again like the hub.
            [error, isRefused] = [problem, false];
        }
        if (signal.aborted) return;
        const listeners = [...this.#listeners];
        if (!willRetry) {
            this.#listeners.clear();
            this.#end();
        }
        for (const { onError } of listeners) guarded(() => onError(error, willRetry));
        if (!willRetry || signal.aborted) return;
        // A refused token is good for nothing until there is another one.
        const delay = Math.min(this.#retryMs * 2 ** (failures - 1), LONGEST_LIVE_DELAY_MS) * (0.5 + Math.random() / 2);
        const asked = Math.min(error.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
        // It is only rejected where it isn't followed any more.
        await this.#bell.wait(signal, isRefused ? Infinity : Math.max(delay, asked)).catch(() => {});
    }

    #take({ type, data, id, retryMs }, stop) {
        if (retryMs !== undefined) this.#retryMs = retryMs;
        if (type === "problem") throw problem(parsed(data));
        if (!["snapshot", "difference", "position"].includes(type)) return;
        const { position, documents, changes } = parsed(data);
        if (!(position >= 0) || id === null) throw unfitting();
        if (type === "snapshot") {
            if (!Array.isArray(documents)) throw unfitting();
            this.#documents = documents.map((each) => this.#document(each));
        } else if (this.#id === null || position < this.#position) {
            throw unfitting();
        } else if (type === "difference") {
            this.#documents = this.#changed(changes);
        }
        [this.#id, this.#position] = [id, position];
        if (type === "position") return;
        for (const listener of this.#listeners) {
            // One of them may have ended it for all.
            if (stop.signal.aborted) return;
            this.#call(listener);
        }
    }

    /** The documents after steps, each of which has the indexes of its moment. */
    #changed(changes) {
        if (!Array.isArray(changes)) throw unfitting();
        const documents = [...this.#documents];
        const index = (value, count) => {
            if (Number.isInteger(value) && value >= 0 && value < count) return value;
            throw unfitting();
        };
        for (const { insert, update, move, remove, at, from, to } of changes) {
            if (insert) documents.splice(index(at, documents.length + 1), 0, this.#document(insert));
            else if (update) documents[index(at, documents.length)] = this.#document(update);
            else if (move) {
                documents.splice(index(from, documents.length), 1);
                documents.splice(index(to, documents.length + 1), 0, this.#document(move));
            } else documents.splice(index(remove, documents.length), 1);
        }
        return documents;
    }

    #document({ id, fields }) {
        if (typeof id !== "string" || fields === null || typeof fields !== "object") throw unfitting();
        return { ...fields, [this.#key]: id };
    }

    #call(listener) {
        if (!this.#listeners.has(listener)) return;
        guarded(() => listener.callback([...this.#documents], { position: this.#position }));
    }
}

/** The hub's codes for a query that it will refuse again. */
const FINAL_CODES = new Set([
    "malformed", "forbidden", "not-found", "method-not-allowed", "too-large", "misdirected", "unsupported-media-type", "invalid",
]);
/** The longest time before a lost live query is followed again, unless the hub asks for more. */
const LONGEST_LIVE_DELAY_MS = 30_000;

function unfitting() {
    return new StorageKitError("protocol", "The hub has sent a change of a live query that doesn't fit what it sent before.");
}

/** Runs code of the page: what it throws is the page's. */
function guarded(run) {
    try {
        run();
    } catch (error) {
        reportError(error);
    }
}

/** A collection in memory, for those who subscribe to it. */
class View {
    #read;
    #onError;
    #listeners = new Set();
    #documents = new Map();
    #pending = new Set();
    #isLoaded = false;
    #hasRead = false;
    /** What is to be read: ids, or null for all. */
    #dirty = null;
    #isReading = false;

    constructor(read, onError) {
        this.#read = read;
        this.#onError = onError;
        this.refresh(null);
    }

    get isUnused() {
        return this.#listeners.size === 0;
    }

    add(listener) {
        this.#listeners.add(listener);
        if (this.#hasRead) queueMicrotask(() => this.#call(listener));
    }

    remove(listener) {
        this.#listeners.delete(listener);
    }

    /** @param {string[] | null} ids What has changed; null for all. */
    async refresh(ids) {
        if (ids === null) this.#dirty = null;
        else for (const id of ids) this.#dirty?.add(id);
        if (this.#isReading) return;
        this.#isReading = true;
        try {
            while (this.#dirty === null || this.#dirty.size > 0) {
                const wanted = this.#dirty && [...this.#dirty];
                this.#dirty = new Set();
                const { documents, pending, isLoaded } = await this.#read(wanted);
                if (wanted === null) {
                    this.#documents = documents;
                    this.#pending = pending;
                } else {
                    for (const id of wanted) {
                        if (documents.has(id)) this.#documents.set(id, documents.get(id));
                        else this.#documents.delete(id);
                        if (pending.has(id)) this.#pending.add(id);
                        else this.#pending.delete(id);
                    }
                }
                this.#isLoaded = isLoaded;
                this.#hasRead = true;
                for (const listener of this.#listeners) this.#call(listener);
            }
        } catch (error) {
            this.#dirty = null;
            this.#onError(error);
        } finally {
            this.#isReading = false;
        }
    }

    #call(listener) {
        if (!this.#listeners.has(listener)) return;
        guarded(() => listener({ documents: this.#documents, pending: this.#pending, isLoaded: this.#isLoaded }));
    }
}

// MARK: Session

/** What is begun by a hello ends a session, without being a failure. */
class SessionOver extends Error {}

/** Talks to the hub until something goes wrong: then the outcome of a batch is unknown, and the next hello returns it. */
class Session {
    #hub;
    #store;
    #bells;
    #on;
    #batchWrites = BATCH_WRITES;
    /** A write that was refused by itself: it is parked when the next hello has shown that it isn't applied. */
    #refusal = null;

    constructor(hub, store, bells, on) {
        this.#hub = hub;
        this.#store = store;
        this.#bells = bells;
        this.#on = on;
    }

    /** @throws Whatever has ended it. */
    async run(signal) {
        this.#bells.now.clear();
        const { producer, epoch } = await this.#store.beginEpoch();
        const welcome = await this.#hub.post("/v1/sync/hello", { producer, epoch }, signal);
        const { session, changed } = await this.#store.begin({ producer, epoch }, welcome, this.#refusal);
        this.#refusal = null;
        this.#on.onOpen();
        this.#on.onChanged(changed);
        const over = new AbortController();
        const both = AbortSignal.any([signal, over.signal]);
        const tasks = [this.#push(session, both), this.#follow(session, both)];
        try {
            await Promise.all(tasks);
        } finally {
            over.abort();
            await Promise.allSettled(tasks);
        }
    }

    async #push(session, signal) {
        for (;;) {
            const batch = await this.#store.nextBatch(session, this.#batchWrites);
            session.isIdle = batch.length === 0;
            if (session.isIdle) {
                await this.#bells.work.wait(signal);
                continue;
            }
            const { producer, epoch, line } = session;
            const firstNumber = batch[0].number;
            const writes = batch.map(({ origin, base, isConditional, collection, id, operation, fields }) => ({
                origin, base, conditional: isConditional, collection, id, operation, fields,
            }));
            let answer;
            try {
                answer = await this.#hub.post("/v1/sync/push", { producer, epoch, line, firstNumber, writes }, signal);
            } catch (error) {
                if (error.code === "number-reused") await this.#store.disown(session);
                throw this.#refused(batch, error);
            }
            this.#on.onChanged(await this.#store.settle(session, batch, answer.results));
            this.#batchWrites = BATCH_WRITES;
        }
    }

    /** The hub doesn't take a batch as it is, and has changed nothing: smaller ones find the write that is the reason. */
    #refused(batch, error) {
        // A proxy's page refuses nothing.
        if (!["malformed", "too-large", "unsupported-media-type", "invalid"].includes(error.code)) return error;
        this.#batchWrites = Math.max(1, Math.floor(batch.length / 2));
        if (batch.length === 1) this.#refusal = { origin: batch[0].origin, detail: error.message };
        return new SessionOver();
    }

    async #follow(session, signal) {
        for (;;) {
            this.#bells.follow.clear();
            const followed = [...(await this.#store.followed())].filter(([name]) => !session.unreadable.has(name));
            const names = followed.map(([name]) => name);
            const top = Math.max(...followed.map(([, { position }]) => position));
            const unloaded = followed.find(([, { isLoaded }]) => !isLoaded);
            // A page doesn't mention what was created and deleted in it. So a stream begins at the position of all its
            // collections: those that are behind come up to the others, and no further, as others write meanwhile.
            const [name, { position }] = unloaded ?? followed.find(([, { position }]) => position < top) ?? [null, {}];
            if (names.length === 0) await this.#bells.follow.wait(signal);
            else if (name === null) await this.#reading(session, names, () => this.#stream(session, names, top, signal));
            else {
                const through = unloaded ? Math.max(top, session.head) : top;
                await this.#reading(session, [name], () => this.#catchUp(session, name, position, through, signal));
            }
        }
    }

    /** A token that may not read some collections may write to them: the session goes on. */
    async #reading(session, names, read) {
        try {
            await read();
        } catch (error) {
            if (error.code !== "forbidden") throw error;
            for (const name of names) session.unreadable.add(name);
            this.#on.onProblem(error);
            this.#on.onChanged(await this.#store.confirmUnreadable(session));
        }
    }

    /** Receives a collection up to a position: the hub's own moves on while others write. */
    async #catchUp(session, name, position, through, signal) {
        const query = this.#query(session, [name], position);
        query.set("through", through);
        for (;;) {
            query.set("after", position);
            const page = await this.#hub.get(`/v1/changes?${query}`, signal);
            await this.#take(session, [name], page, position);
            // An empty page may be one of many: the last one is the one that doesn't advance.
            if (page.end === position) break;
            position = page.end;
        }
        // The hub was replaced by an older copy meanwhile, which the next hello finds out.
        if (position < through) throw new SessionOver();
    }

    /** Follows some collections, which are at one position, until there is another one. */
    async #stream(session, names, position, signal) {
        const stop = new AbortController();
        const both = AbortSignal.any([signal, stop.signal]);
        const more = this.#bells.follow.wait(both).then(() => stop.abort(), () => {});
        try {
            const query = this.#query(session, names, position);
            for await (const event of this.#hub.events(`/v1/changes?${query}`, both)) {
                if (event.type === "page") {
                    const page = parsed(event.data);
                    await this.#take(session, names, page, position);
                    position = page.end;
                } else if (event.type === "problem") {
                    throw problem(parsed(event.data));
                }
            }
            throw new StorageKitError("network", "The hub has ended the stream of changes.");
        } catch (error) {
            if (!stop.signal.aborted || signal.aborted) throw error;
        } finally {
            stop.abort();
            await more;
        }
    }

    #query({ line, producer }, names, position) {
        const query = new URLSearchParams({ line, producer, after: position });
        for (const name of names) query.append("collection", name);
        return query;
    }

    async #take(session, names, page, position) {
        const isInOrder = Array.isArray(page.changes) && page.changes.every((change, index) =>
            change.position > (page.changes[index - 1]?.position ?? position) && change.position <= page.end);
        if (page.line !== session.line || page.start !== position || !(page.end >= position) || !isInOrder) {
            throw new StorageKitError("protocol", "The hub has sent a page of changes that doesn't follow the last one.");
        }
        this.#on.onChanged(await this.#store.apply(session, names, page));
    }
}

// MARK: Local store

/**
 * Documents and the outbox in IndexedDB.
 *
 * - `record`: one row, what is known of the hub.
 * - `documents`: as the hub has them, by collection and id.
 * - `writes`: those that aren't confirmed, by `origin`, which grows with each. `waiting`, `sending` under a `number`,
 *   `accepted` at a `position` that wasn't received yet, or `parked` for a `reason`. Those three are there in one state only.
 * - `sent`: the last that were confirmed, by origin, with the position.
 */
class LocalStore {
    #open;
    #keptWrites;
    #unstored = [];
    #isStoring = false;

    constructor(name, keptWrites) {
        this.#keptWrites = keptWrites;
        this.#open = this.#opened(name);
        this.#open.catch(() => {});
    }

    async #opened(name) {
        const request = indexedDB.open(name, 1);
        request.onupgradeneeded = () => {
            const database = request.result;
            database.createObjectStore("record");
            database.createObjectStore("documents", { keyPath: ["collection", "id"] });
            const writes = database.createObjectStore("writes", { keyPath: "origin", autoIncrement: true });
            writes.createIndex("document", ["collection", "id"]);
            for (const key of ["number", "position", "reason"]) writes.createIndex(key, key);
            database.createObjectStore("sent", { keyPath: "origin" }).createIndex("position", "position");
        };
        const database = await result(request).catch((error) => {
            throw new StorageKitError("storage", `The local database can't be opened: ${error.message}`, { cause: error });
        });
        database.onversionchange = () => database.close();
        return database;
    }

    async close() {
        const database = await this.#open.catch(() => null);
        database?.close();
    }

    /** Runs a body in one transaction, and resolves once it is committed. The body awaits requests, and nothing else. */
    async #transaction(mode, durability, body) {
        const database = await this.#open;
        let transaction;
        try {
            transaction = database.transaction(["record", "documents", "writes", "sent"], mode, { durability });
            const ended = new Promise((resolve, reject) => {
                transaction.oncomplete = resolve;
                transaction.onabort = () => reject(transaction.error ?? new Error("The transaction was aborted."));
            });
            ended.catch(() => {});
            const table = (name) => transaction.objectStore(name);
            const tables = {
                records: table("record"), documents: table("documents"), writes: table("writes"), sent: table("sent"),
            };
            tables.record = (await result(tables.records.get("record"))) ?? newRecord();
            const value = await body(tables);
            await ended;
            return value;
        } catch (error) {
            try {
                transaction?.abort();
            } catch {
                // It has ended by itself.
            }
            if (error instanceof StorageKitError) throw error;
            throw new StorageKitError("storage", `The local database has failed: ${error.message}`, { cause: error });
        }
    }

    #reading(body) {
        return this.#transaction("readonly", "default", body);
    }

    /** What isn't there after a crash of the machine is received again. */
    #writing(body, durability = "relaxed") {
        return this.#transaction("readwrite", durability, async (tables) => {
            const value = await body(tables);
            tables.records.put(tables.record, "record");
            return value;
        });
    }

    /** A transaction of a session, unless another one was begun. */
    #inSession({ producer, epoch }, body, durability) {
        return this.#writing((tables) => {
            if (tables.record.producer !== producer || tables.record.epoch !== epoch) {
                throw new StorageKitError("session-ended", "Another session was begun.");
            }
            return body(tables);
        }, durability);
    }

    // MARK: Reads

    /** @param {string[] | null} ids Those of some documents; null for all. */
    read(collection, ids) {
        return this.#reading(async ({ record, documents, writes }) => {
            const ranges = ids
                ? ids.map((id) => IDBKeyRange.only([collection, id]))
                : [IDBKeyRange.bound([collection], [collection, []])];
            const found = new Map();
            const pending = new Set();
            const queries = ranges.map((range) =>
                [result(documents.getAll(range)), result(writes.index("document").getAll(range))]);
            for (const query of queries) {
                for (const { id, fields } of await query[0]) found.set(id, fields);
                for (const write of await query[1]) {
                    pending.add(write.id);
                    const fields = changed(found.get(write.id), write);
                    if (fields) found.set(write.id, fields);
                    else found.delete(write.id);
                }
            }
            return { documents: found, pending, isLoaded: record.followed.get(collection)?.isLoaded ?? false };
        });
    }

    counts() {
        return this.#reading(async ({ record, writes }) => {
            const [all, accepted, parked] = await Promise.all(
                [writes, writes.index("position"), writes.index("reason")].map((source) => result(source.count())));
            return { pending: all - accepted - parked, parked, hasLostWrites: record.hasLostWrites };
        });
    }

    parked() {
        return this.#reading(async ({ writes }) =>
            (await result(writes.index("reason").getAll())).sort((a, b) => a.origin - b.origin)
                .map(({ origin, collection, id, operation, fields, reason, detail }) =>
                    ({ origin, collection, id, operation, fields, reason, detail })));
    }

    /** @returns {Promise<Map<string, { position: number, isLoaded: boolean }>>} */
    followed() {
        return this.#reading(({ record }) => record.followed);
    }

    // MARK: Writes of this client

    /** @returns Whether it wasn't followed before. */
    async follow(name) {
        if ((await this.followed()).has(name)) return false;
        return this.#writing(({ record }) => {
            if (record.followed.has(name)) return false;
            record.followed.set(name, { position: 0, isLoaded: false });
            return true;
        });
    }

    /** Stores a write. Those that come while others are being stored share the next transaction, whose price is its flush. */
    write(write) {
        return new Promise((resolve, reject) => {
            this.#unstored.push({ write, resolve, reject });
            if (!this.#isStoring) this.#storeWrites();
        });
    }

    async #storeWrites() {
        this.#isStoring = true;
        while (this.#unstored.length > 0) {
            const some = this.#unstored.splice(0);
            await this.#store(some.map(({ write }) => write)).then(
                () => some.forEach(({ write: { collection, id }, resolve }) => resolve(new Map([[collection, [id]]]))),
                (error) => some.forEach(({ reject }) => reject(error)));
        }
        this.#isStoring = false;
    }

    #store(some) {
        return this.#writing(async ({ record, writes }) => {
            let last = (await result(writes.openCursor(null, "prev")))?.value;
            const changed = new Set();
            for (const { collection, id, operation, fields, isConditional } of some) {
                const base = record.followed.get(collection)?.position ?? 0;
                // With no other write between them, two writes that were never sent are one to the hub.
                const merges = last?.state === "waiting" && !last.wasSent && last.collection === collection
                    && last.id === id && last.base === base && last.isConditional === isConditional
                    && last.operation !== "delete" && operation === "patch";
                if (!merges) last = { collection, id, operation, fields, base, isConditional, state: "waiting", wasSent: false };
                else if (last.operation === "save") last.fields = merged(last.fields, fields);
                else last.fields = { ...last.fields, ...fields };
                changed.add(last);
            }
            for (const write of changed) {
                write.bytes = new TextEncoder().encode(JSON.stringify([write.collection, write.id, write.fields])).length + 100;
                writes.put(write);
            }
        }, "strict");
    }

    retry(origin) {
        return this.#parked(origin, (write, { record, writes }) => {
            write.base = record.followed.get(write.collection)?.position ?? write.base;
            move(writes, write, "waiting");
        });
    }

    discard(origin) {
        return this.#parked(origin, (write, { writes }) => writes.delete(origin));
    }

    #parked(origin, act) {
        return this.#writing(async (tables) => {
            const write = await result(tables.writes.get(origin));
            if (write?.state !== "parked") throw new StorageKitError("not-found", "There is no parked write of this origin.");
            act(write, tables);
            return new Map([[write.collection, [write.id]]]);
        }, "strict");
    }

    reset(keepsWrites) {
        return this.#writing(async (tables) => {
            const { followed, hasLostWrites, hubWentBack } = tables.record;
            const taken = await Promise.all([tables.sent, tables.writes.index("position")].map((each) => result(each.count())));
            tables.record = newRecord();
            // What an older copy of the hub doesn't have isn't kept here either.
            tables.record.hasLostWrites = hasLostWrites || (Boolean(hubWentBack) && taken.some((count) => count > 0));
            tables.record.followed = followed;
            this.#receiveAgain(tables);
            tables.sent.clear();
            if (!keepsWrites) return void tables.writes.clear();
            for await (const write of rows(tables.writes)) {
                write.base = 0;
                if (write.state === "accepted") tables.writes.delete(write.origin);
                else if (write.state === "sending") move(tables.writes, write, "parked", { reason: "unknown" });
                else tables.writes.put(write);
            }
        }, "strict");
    }

    // MARK: Delays

    /** How long the hub isn't to be asked, and whether it has asked for that. */
    delay() {
        return this.#reading(({ record: { failureTime, delayMs, retryAfterMs } }) => {
            // A clock that was set back makes nobody wait for longer.
            const since = Math.max(0, Date.now() - failureTime);
            return { ms: delayMs + retryAfterMs - since, isAskedFor: retryAfterMs > since };
        });
    }

    forgetDelay() {
        return this.#writing(({ record }) => {
            record.delayMs = record.retryAfterMs = 0;
        });
    }

    /** Keeps when the hub may be asked again: at random, so that many clients don't come back at once. */
    failed({ epoch, retryAfterMs = 0 }) {
        return this.#writing(({ record }) => {
            if (Number.isInteger(epoch) && epoch < 2 ** 31) this.#setEpoch(record, Math.max(record.epoch, epoch));
            record.failures += 1;
            record.failureTime = Date.now();
            record.delayMs = Math.random() * Math.min(60_000, 2_000 * 2 ** Math.min(record.failures - 1, 5));
            record.retryAfterMs = Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS);
            return record.delayMs + record.retryAfterMs;
        });
    }

    /** Keeps that the hub may have lost writes, for a reset. */
    hubWentBack() {
        return this.#writing(({ record }) => {
            record.hubWentBack = true;
        });
    }

    // MARK: Sessions

    /** The epoch of a new session, which is stored before anybody hears of it. */
    beginEpoch() {
        return this.#writing(({ record }) => {
            this.#setEpoch(record, record.epoch + 1);
            record.delayMs = record.retryAfterMs = 0;
            return { producer: record.producer, epoch: record.epoch };
        }, "strict");
    }

    /**
     * A tab with an earlier version of this script changes the epoch only. The last session may be its own then, and isn't known.
     */
    #setEpoch(record, epoch) {
        if (record.knownEpoch !== record.epoch) record.lastSession = null;
        record.epoch = record.knownEpoch = epoch;
    }

    /** Takes over what a hello was answered with: the outcomes of the last session, and whether the history is another one. */
    begin(session, { lines, head, lastNumber, results, lastSession, access }, refusal) {
        return this.#inSession(session, async (tables) => {
            const { record, writes } = tables;
            if (!lines?.length || !(head >= 0) || !(lastNumber >= 0)) {
                throw new StorageKitError("protocol", "The hub's answer to a hello makes no sense.");
            }
            const isContinuation = record.lines.every(({ id }, index) => lines[index]?.id === id);
            this.#checkHistory(record, lines, head, lastNumber);
            if (isContinuation) this.#checkSession(record, lastNumber, lastSession);
            const shared = sharedEnd(record.lines, lines);
            record.lines = lines;
            record.settledNumber = lastNumber;
            record.hubWentBack = false;
            const byNumber = new Map(isContinuation ? results?.map((each) => [each.number, each]) : []);
            // A stream may have been faster than the answer that was lost.
            const confirmed = [];
            for (const write of await result(writes.index("number").getAll())) {
                const outcome = byNumber.get(write.number);
                if (outcome) {
                    if (take(tables, write, outcome, false)) confirmed.push(write);
                }
                // What comes after the last number has no outcome, nor ever will. Numbers of another branch of the
                // history say nothing; the hub knows its writes by their origins.
                else if (!isContinuation || write.number > lastNumber) move(writes, write, "waiting");
                else move(writes, write, "parked", { reason: "unknown" });
            }
            // With another access, others are in sight: also of collections that couldn't be read meanwhile.
            const isOtherAccess = access !== undefined && record.access !== undefined && access !== record.access;
            record.access = access ?? record.access;
            const isBack = (await this.#goBack(tables, shared)) || isOtherAccess;
            if (isBack) this.#receiveAgain(tables);
            const refused = refusal && (await result(writes.get(refusal.origin)));
            if (refused?.state === "waiting") move(writes, refused, "parked", { reason: "invalid", detail: refusal.detail });
            return {
                session: {
                    ...session, line: lines.at(-1).id, head, lastNumber, isIdle: false, unreadable: new Set(),
                },
                changed: isBack ? null : documentsOf(confirmed),
            };
        });
    }

    #checkHistory(record, lines, head, lastNumber) {
        const position = Math.max(0, ...[...record.followed.values()].map((each) => each.position));
        const isSameLine = lines.length === record.lines.length && lines.at(-1).id === record.lines.at(-1)?.id;
        if (lastNumber > record.lastNumber) {
            throw new StorageKitError(
                "halted", "The hub has writes of this client that it never made: its database is an older copy. Call reset().");
        }
        if (isSameLine && (lastNumber < record.settledNumber || head < position)) {
            throw new StorageKitError(
                "halted",
                "The hub has lost what it had acknowledged, or knows the token by another name than before. Call reset().",
                { hubWentBack: true });
        }
    }

    /**
     * An outcome that this client doesn't know is that of the batch it sent last. From another session it is that of other
     * writes, under the same numbers. An earlier version of the hub or of this client keeps none.
     */
    #checkSession({ lastSession: mine, settledNumber }, lastNumber, theirs) {
        if (lastNumber <= settledNumber || !theirs || !mine) return;
        if (theirs.epoch === mine.epoch && theirs.line === mine.line) return;
        throw new StorageKitError(
            "halted", "A copy of this client's database sends writes under its name. Call reset().");
    }

    /**
     * What the hub has applied behind a position is lost, and is sent again.
     * @returns {Promise<boolean>} Whether some of it was received.
     */
    async #goBack({ record, writes, sent }, shared) {
        if (shared < record.forgottenPosition) record.hasLostWrites = true;
        record.forgottenPosition = Math.min(record.forgottenPosition, shared);
        if (shared === Infinity) return false;
        for (const write of await result(sent.index("position").getAll(IDBKeyRange.lowerBound(shared, true)))) {
            sent.delete(write.origin);
            writes.put(write);
        }
        for await (const write of rows(writes)) {
            write.base = Math.min(write.base, shared);
            const isLost = write.state === "accepted" && write.position > shared;
            if (isLost) move(writes, write, "waiting");
            else writes.put(write);
        }
        return [...record.followed.values()].some(({ position }) => position > shared);
    }

    /** Everything, from the beginning. Unsent writes stay what they were made on. */
    #receiveAgain({ record, documents }) {
        documents.clear();
        for (const name of record.followed.keys()) record.followed.set(name, { position: 0, isLoaded: false });
    }

    /** The next writes to send. Their numbers are stored before they are sent. */
    nextBatch(session, maximumWrites) {
        return this.#inSession(session, async ({ record, writes }) => {
            const batch = [];
            const parked = new Set();
            let bytes = 0;
            for await (const write of rows(writes)) {
                const document = JSON.stringify([write.collection, write.id]);
                if (write.state === "parked") parked.add(document);
                if (write.state !== "waiting" || parked.has(document)) continue;
                // One that is larger than a batch goes by itself.
                if (batch.length === maximumWrites || (batch.length > 0 && bytes + write.bytes > BATCH_BYTES)) break;
                bytes += write.bytes;
                batch.push(write);
            }
            for (const write of batch) {
                session.lastNumber += 1;
                move(writes, write, "sending", { number: session.lastNumber, wasSent: true });
            }
            if (batch.length > 0) record.lastSession = { epoch: session.epoch, line: session.line };
            record.lastNumber = Math.max(record.lastNumber, session.lastNumber);
            return batch;
        }, "strict");
    }

    settle(session, batch, results) {
        return this.#inSession(session, async (tables) => {
            const byNumber = new Map(results?.map((each) => [each.number, each]));
            if (!batch.every(({ number }) => byNumber.has(number)) || !results.some(({ status }) => status !== "blocked")) {
                throw new StorageKitError("protocol", "The hub leaves writes without an outcome.");
            }
            const sending = await result(tables.writes.index("number").getAll());
            const confirmed = sending.filter((write) =>
                take(tables, write, byNumber.get(write.number), session.unreadable.has(write.collection)));
            tables.record.failures = 0;
            tables.record.settledNumber = Math.max(tables.record.settledNumber, batch.at(-1).number);
            await this.#trim(tables);
            // What is shown of the others stays as it was.
            return documentsOf(confirmed);
        });
    }

    /** The numbers were used by a copy of this page: no hub has begun this session, so each hello finds that. */
    disown(session) {
        return this.#inSession(session, ({ record }) => {
            record.lastSession = { epoch: 0, line: "" };
        }, "strict");
    }

    /** Stores what was received, together with the position up to which it was. */
    apply(session, names, { end, changes }) {
        return this.#inSession(session, async (tables) => {
            const { record, documents, writes } = tables;
            for (const { collection, id, operation, position, fields } of changes) {
                if (operation === "save") documents.put({ collection, id, position, fields });
                else if (operation === "delete") documents.delete([collection, id]);
                else throw new StorageKitError("protocol", "The hub has sent a change that is neither a save nor a delete.");
            }
            const positions = new Map(changes.map(({ origin, position }) => [origin, position]));
            const own = await Promise.all(
                changes.filter(({ origin }) => origin !== undefined).map(({ origin }) => result(writes.get(origin))));
            const accepted = await result(writes.index("position").getAll(IDBKeyRange.upperBound(end)));
            // A copy of this database may have used the origin. What is being sent is confirmed by its number, which the hub
            // accepts in this session only, and what was never sent isn't at the hub.
            const taken = own.filter((write) => write?.wasSent && write.state !== "sending");
            const confirmed = new Map([...taken, ...accepted].filter((write) => names.includes(write.collection))
                .map((write) => [write.origin, write]));
            for (const [origin, write] of confirmed) confirm(tables, write, positions.get(origin) ?? write.position);
            const loaded = [];
            for (const name of names) {
                const { position, isLoaded } = record.followed.get(name);
                // A page that goes nowhere is the last one.
                if (!isLoaded && position === end) loaded.push(name);
                record.followed.set(name, { position: Math.max(position, end), isLoaded: isLoaded || position === end });
            }
            if (session.isIdle) record.failures = 0;
            await this.#trim(tables);
            return new Map([...documentsOf([...changes, ...confirmed.values()]), ...loaded.map((name) => [name, null])]);
        });
    }

    /** What isn't received is confirmed as soon as it is accepted. */
    confirmUnreadable(session) {
        return this.#inSession(session, async (tables) => {
            const accepted = await result(tables.writes.index("position").getAll());
            const concerned = accepted.filter(({ collection }) => session.unreadable.has(collection));
            for (const write of concerned) confirm(tables, write, write.position);
            return documentsOf(concerned);
        });
    }

    async #trim({ record, sent }) {
        const surplus = (await result(sent.count())) - this.#keptWrites;
        if (surplus <= 0) return;
        for (const { origin, position } of await result(sent.index("position").getAll(null, surplus))) {
            record.forgottenPosition = Math.max(record.forgottenPosition, position);
            sent.delete(origin);
        }
    }
}

function newRecord() {
    return {
        producer: crypto.randomUUID(), epoch: 0, knownEpoch: 0, lastNumber: 0, lastSession: null, settledNumber: 0, lines: [],
        followed: new Map(), forgottenPosition: 0, hasLostWrites: false, hubWentBack: false, failures: 0, failureTime: 0, delayMs: 0,
        retryAfterMs: 0,
    };
}

/** Gives a write another state, with what belongs to that. */
function move(writes, write, state, details = {}) {
    for (const key of ["number", "position", "reason", "detail"]) delete write[key];
    writes.put(Object.assign(write, { state }, details));
}

/**
 * Gives a write the outcome that the hub reports.
 * @returns {boolean} Whether it is confirmed by that.
 */
function take(tables, write, { status, position, reason, detail }, isUnreadable) {
    const received = tables.record.followed.get(write.collection)?.position ?? 0;
    const isConfirmed = status === "applied" && (position <= received || isUnreadable);
    if (isConfirmed) confirm(tables, write, position);
    else if (status === "applied") move(tables.writes, write, "accepted", { position });
    else if (status === "rejected") move(tables.writes, write, "parked", { reason, detail });
    else move(tables.writes, write, "waiting");
    return isConfirmed;
}

function confirm({ writes, sent }, write, position) {
    writes.delete(write.origin);
    move(sent, write, "accepted", { position });
}

/** Up to which position two histories are the same; infinity where their lines set no end. */
function sharedEnd(mine, theirs) {
    let count = 0;
    while (count < mine.length && mine[count].id === theirs[count]?.id) count += 1;
    if (count === 0) return 0;
    return Math.min(mine[count]?.fork ?? Infinity, theirs[count]?.fork ?? Infinity);
}

/** What a write or a change makes of a document's fields. */
function changed(fields, { operation, fields: change }) {
    if (operation === "save") return merged({}, change);
    if (operation === "patch") return fields && merged(fields, change);
    return undefined;
}

/** Fields with others on top; null removes one. */
function merged(fields, patch) {
    return Object.fromEntries(Object.entries({ ...fields, ...patch }).filter(([, value]) => value !== null));
}

/** Ids by collection. */
function documentsOf(changes) {
    const ids = new Map();
    for (const { collection, id } of changes) {
        if (ids.has(collection)) ids.get(collection).push(id);
        else ids.set(collection, [id]);
    }
    return ids;
}

/** A document as it comes out of JSON, so that what is shown here is what is sent. */
function asJSON(document) {
    const copy = JSON.parse(JSON.stringify(document) ?? "null");
    if (copy === null || typeof copy !== "object" || Array.isArray(copy)) throw new TypeError("A document is an object.");
    return copy;
}

/** The result of an IndexedDB request. */
function result(request) {
    return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
}

/** Goes over all writes, some at a time. */
async function* rows(writes) {
    for (let origin = 0; ; ) {
        const some = await result(writes.getAll(IDBKeyRange.lowerBound(origin, true), BATCH_WRITES));
        yield* some;
        if (some.length < BATCH_WRITES) return;
        origin = some.at(-1).origin;
    }
}

// MARK: HTTP

/** The hub's side of a connection. */
class Hub {
    #url;
    #token;
    #getToken;
    #wasRenewed = false;

    constructor(url, token, getToken) {
        this.#url = url;
        this.#token = token;
        this.#getToken = getToken;
    }

    set token(token) {
        this.#token = token;
        this.#wasRenewed = false;
    }

    /** Somebody wants it to be tried again. */
    mayRenewToken() {
        this.#wasRenewed = false;
    }

    /** Gets another token in place of one that was refused: once, until one was accepted. */
    async renewToken() {
        const refused = this.#token;
        if (!this.#getToken || this.#wasRenewed) return false;
        this.#token = await this.#getToken();
        this.#wasRenewed = true;
        return Boolean(this.#token) && this.#token !== refused;
    }

    async post(path, body, signal) {
        const headers = { "Content-Type": "application/json", Accept: "application/json" };
        return this.#json(path, { method: "POST", headers, body: JSON.stringify(body) }, signal);
    }

    async get(path, signal) {
        return this.#json(path, { headers: { Accept: "application/json" } }, signal);
    }

    async #json(path, options, signal) {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]);
        const response = await this.#fetch(path, options, limited);
        return parsed(await answered(response.text(), limited));
    }

    /**
     * Server-sent events. Source: WHATWG HTML, 9.2.6.
     *
     * @param {{ body?: object, after?: string | null }} [options] `body`: what is posted; `after`: the id of the last event that
     *   was received before.
     */
    async *events(path, signal, { body, after = null } = {}) {
        const silence = new AbortController();
        const limited = AbortSignal.any([signal, silence.signal]);
        let timer;
        const listen = () => {
            clearTimeout(timer);
            timer = setTimeout(
                () => silence.abort(new StorageKitError("network", "The hub was silent for too long.")), SILENCE_MS);
        };
        listen();
        try {
            const headers = { Accept: "text/event-stream", ...(after === null ? {} : { "Last-Event-ID": after }) };
            const options = body === undefined
                ? { headers }
                : { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) };
            const response = await this.#fetch(path, options, limited);
            if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
                throw new StorageKitError("protocol", "The hub doesn't answer with a stream of events.");
            }
            const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
            const lines = new LineReader();
            let event = { type: "message", data: [] };
            let [id, retryMs] = [after, undefined];
            for (;;) {
                const { value, done } = await answered(reader.read(), limited);
                if (done) return;
                listen();
                for (const line of lines.take(value)) {
                    const [, field, text] = /^([^:]*)(?:: ?)?(.*)$/s.exec(line);
                    if (field === "event") event.type = text;
                    if (field === "data") event.data.push(text);
                    if (field === "id" && !text.includes("\0")) id = text;
                    if (field === "retry" && /^\d+$/.test(text)) retryMs = Number(text);
                    if (line !== "") continue;
                    if (event.data.length > 0) yield { type: event.type, data: event.data.join("\n"), id, retryMs };
                    event = { type: "message", data: [] };
                }
            }
        } finally {
            clearTimeout(timer);
            // Lets go of the connection.
            silence.abort();
        }
    }

    /** @throws {StorageKitError} For anything but success. */
    async #fetch(path, options, signal) {
        this.#token ??= (await this.#getToken?.()) ?? null;
        if (!this.#token) throw new StorageKitError("unauthorized", "There is no token. Set one.", { status: 401 });
        const response = await answered(
            fetch(this.#url + path, {
                ...options, signal, headers: { ...options.headers, Authorization: `Bearer ${this.#token}` },
                cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
            }), signal);
        if (response.ok) {
            this.#wasRenewed = false;
            return response;
        }
        const body = await answered(response.text(), signal);
        throw problem(body, response);
    }
}

/** Waits for a part of an answer; what goes wrong with it is the network's. */
async function answered(part, signal) {
    try {
        return await part;
    } catch (error) {
        if (signal.aborted && signal.reason?.name !== "TimeoutError") throw signal.reason;
        throw new StorageKitError("network", `The hub doesn't answer: ${error.message}`, { cause: error });
    }
}

function parsed(text) {
    try {
        return JSON.parse(text);
    } catch (error) {
        throw new StorageKitError("protocol", "The hub's answer isn't JSON.", { cause: error });
    }
}

/** A problem as the hub, or a proxy before it, reports it. */
function problem(body, response) {
    let details = body;
    try {
        if (typeof body === "string") details = JSON.parse(body);
    } catch {
        details = {};
    }
    const status = response?.status ?? details?.status ?? 0;
    const after = response?.headers.get("Retry-After");
    const seconds = after && (/^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1_000);
    return new StorageKitError(
        details?.code ?? (status === 401 ? "unauthorized" : "failed"), details?.detail || `The hub answers with ${status}.`,
        { status, epoch: details?.epoch, retryAfterMs: Math.max(0, seconds * 1_000) || 0 });
}

/** Cuts a text that comes in parts into lines, which end with CR, LF or both. */
class LineReader {
    #parts = [];
    #endedWithCR = false;

    take(text) {
        if (this.#endedWithCR && text.startsWith("\n")) text = text.slice(1);
        this.#endedWithCR = text.endsWith("\r");
        const lines = text.split(/\r\n|\n|\r/);
        const rest = lines.pop();
        if (lines.length > 0) {
            lines[0] = this.#parts.join("") + lines[0];
            this.#parts = [];
        }
        this.#parts.push(rest);
        return lines;
    }
}

// MARK: Bell

/** Wakes one who waits, or will. */
class Bell {
    #why;
    #wake = null;

    ring(why = "asked") {
        this.#why = this.#why === "asked" ? "asked" : why;
        this.#wake?.();
    }

    clear() {
        this.#why = undefined;
    }

    /**
     * @param {number} [ms] The longest time.
     * @returns {Promise<string | undefined>} Why it was rung; undefined where the time is over.
     */
    wait(signal, ms = Infinity) {
        return new Promise((resolve, reject) => {
            let timer;
            const end = (finish) => {
                clearTimeout(timer);
                signal.removeEventListener("abort", abort);
                this.#wake = null;
                finish();
            };
            const abort = () => end(() => reject(signal.reason));
            const wake = () => end(() => {
                const why = this.#why;
                this.clear();
                resolve(why);
            });
            if (signal.aborted) return abort();
            if (this.#why !== undefined) return wake();
            this.#wake = wake;
            signal.addEventListener("abort", abort);
            if (ms < Infinity) timer = setTimeout(wake, ms);
        });
    }
}
