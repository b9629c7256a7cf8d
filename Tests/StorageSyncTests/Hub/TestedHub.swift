import StorageCore
import StorageKit
import StorageTesting
import Testing

@testable import StorageSync

#if STORAGE_SERVER && STORAGE_HTTP
    import Logging
    @testable import StorageHTTP
    @testable import StorageServer
#endif

/// The kinds of hubs that one suite holds for.
enum HubKind: CaseIterable, Sendable {
    case memory
    case store
    #if STORAGE_SERVER && STORAGE_HTTP
        /// On a store, behind a server and a client of it.
        case served
    #endif

    /// Over HTTP there are requests that can't be sent, as a position below zero.
    var isAskedDirectly: Bool { self == .memory || self == .store }
}

/// A hub of some kind.
struct TestedHub {
    let hub: any SyncHub

    /// - Parameter limits: Of a hub on a store.
    init(_ kind: HubKind, limits: StoreHub.Limits = StoreHub.Limits()) async throws {
        switch kind {
        case .memory: hub = MemorySyncHub(MemoryHub(line: Array(repeating: 1, count: 16)))
        case .store:
            let store = try TemporaryStore()
            hub = KeptHub(hub: try await StoreHub(store.storage, limits: limits), store: store)
        #if STORAGE_SERVER && STORAGE_HTTP
            case .served: hub = try await ServedHub()
        #endif
        }
    }
}

/// A hub whose store goes with it.
private struct KeptHub: SyncHub, @unchecked Sendable {
    let hub: StoreHub
    /// Kept and never used, so nobody uses it from two sides.
    let store: TemporaryStore

    func hello(from producer: ProducerID, epoch: Int64, as access: HubAccess) async throws -> SyncWelcome {
        try await hub.hello(from: producer, epoch: epoch, as: access)
    }
    func push(_ batch: HubBatch, as access: HubAccess) async throws -> [NumberedResult] {
        try await hub.push(batch, as: access)
    }
    func pull(_ pull: HubPull, as access: HubAccess) async throws -> SyncPage { try await hub.pull(pull, as: access) }
    func head() async throws -> Int64 { try await hub.head() }
}

#if STORAGE_SERVER && STORAGE_HTTP
    /// A hub that serves on loopback for as long as somebody has it. Sound as `@unchecked Sendable`: nothing of it changes.
    private final class ServedHub: SyncHub, @unchecked Sendable {
        private let remote: HTTPHubClient
        private let serving: Task<Void, any Error>
        /// Kept and never used, so nobody uses it from two sides.
        private let store: TemporaryStore

        init() async throws {
            store = try TemporaryStore()
            let tokens = try HubTokenFile(besideStore: ":memory:")
            let token = try await tokens.create(name: "client", grants: [HubGrant(entity: nil, writes: true)]).text
            var configuration = HubServerConfiguration()
            configuration.port = 0
            configuration.limits.requestBurst = 10_000
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
            let server = try await HubServer(
                store.storage, tokens: tokens, configuration: configuration, logger: logger,
                onRunning: { continuation.yield($0) })
            serving = Task { try await server.run() }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            remote = HTTPHubClient(url: "http://127.0.0.1:\(port)/", token: { token }, client: .shared)
        }

        deinit { serving.cancel() }

        func hello(from producer: ProducerID, epoch: Int64, as access: HubAccess) async throws -> SyncWelcome {
            try await remote.hello(from: producer, epoch: epoch, as: access)
        }
        func push(_ batch: HubBatch, as access: HubAccess) async throws -> [NumberedResult] {
            try await remote.push(batch, as: access)
        }
        func pull(_ pull: HubPull, as access: HubAccess) async throws -> SyncPage {
            try await remote.pull(pull, as: access)
        }
        func head() async throws -> Int64 { try await remote.head() }
    }
#endif

/// A hub in memory as those see it who speak to any.
actor MemorySyncHub: SyncHub {
    private var hub: MemoryHub

    init(_ hub: MemoryHub) { self.hub = hub }

    func hello(from producer: ProducerID, epoch: Int64, as access: HubAccess) throws -> SyncWelcome {
        try hub.hello(from: producer, epoch: epoch).get()
    }

    func push(_ batch: HubBatch, as access: HubAccess) throws -> [NumberedResult] {
        try hub.push(batch).get()
    }

    func pull(_ pull: HubPull, as access: HubAccess) throws -> SyncPage {
        try hub.pull(
            for: pull.producer ?? ProducerID(""), line: pull.line ?? (pull.position == 0 ? hub.line : []),
            after: pull.position, limit: pull.limit
        ).get()
    }

    func head() -> Int64 { hub.head }
}

/// Somebody who writes to a hub and follows it.
struct HubClient {
    let hub: any SyncHub
    let producer: ProducerID
    private(set) var epoch: Int64 = 0
    private(set) var line: [UInt8] = []
    private(set) var lastNumber: Int64 = 0
    private(set) var position: Int64 = 0
    private(set) var lastPage: SyncPage?
    private(set) var documents: [DocumentID: [String: String]] = [:]
    /// The origins that pages said were its own.
    private(set) var origins: Set<Int64> = []

    init(_ name: String, _ hub: any SyncHub) async throws {
        self.hub = hub
        producer = ProducerID(name)
        try await hello()
    }

    /// - Parameter epoch: The next one, if none is given.
    mutating func hello(_ epoch: Int64? = nil) async throws {
        self.epoch = epoch ?? self.epoch + 1
        let welcome = try await hub.hello(from: producer, epoch: self.epoch, as: .full)
        line = try #require(welcome.lines.last?.id)
        lastNumber = welcome.lastNumber
    }

    func batch(_ writes: [HubWrite]) -> HubBatch {
        HubBatch(producer: producer, epoch: epoch, line: line, firstNumber: lastNumber + 1, writes: writes)
    }

    mutating func push(_ writes: HubWrite...) async throws -> [WriteResult] { try await push(all: writes) }

    mutating func push(all writes: [HubWrite]) async throws -> [WriteResult] {
        let results = try await hub.push(batch(writes), as: .full)
        #expect(results.map(\.number) == writes.indices.map { lastNumber + 1 + Int64($0) })
        lastNumber += Int64(writes.count)
        return results.map(\.result)
    }

    mutating func pull(limit: Int = 1_000) async throws {
        var pull = HubPull(behind: position, of: ["notes"])
        pull.line = line
        pull.producer = producer
        pull.limit = limit
        let page = try await hub.pull(pull, as: .full)
        #expect(page.start == position)
        #expect(page.end >= position)
        #expect(page.isInOrder)
        #expect(page.changes.count <= limit)
        for change in page.changes {
            if let origin = change.ownOrigin { origins.insert(origin) }
            switch change.operation {
            case .save(let values): documents[change.document] = values.texts
            case .patch(let values): documents[change.document]?.merge(values.texts) { $1 }
            case .delete: documents[change.document] = nil
            }
        }
        position = page.end
        lastPage = page
    }

    mutating func catchUp(limit: Int = 1_000) async throws {
        while try await position < hub.head() { try await pull(limit: limit) }
    }
}

extension HubWrite {
    /// Of a note.
    init(
        _ origin: Int64, _ operation: WriteOperation, of id: String = "1", base: Int64 = 0, isConditional: Bool = false
    ) {
        self.init(
            origin: origin, document: DocumentID(entity: "notes", id: id), operation: operation, base: base,
            isConditional: isConditional)
    }
}

extension WriteResult {
    var position: Int64? { if case .applied(let position) = self { position } else { nil } }
}
