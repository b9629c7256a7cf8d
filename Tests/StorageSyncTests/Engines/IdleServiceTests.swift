import StorageTesting
import TestSupport
import Testing

@testable import StorageSync

/// Pulls from a service that has nothing to return.
///
/// The store's clock stands still, so nothing happens that the core has put off.
@MainActor @Suite(.timeLimit(.minutes(10))) struct IdleServiceTests {
    private let container: PersistenceContainer
    private let mock = MockRemoteCollectionService<Product>(delay: .zero)

    init() throws {
        container = try .inMemory(config: StorageConfig(clock: ManualClock())) { $0.autoSchema(ProductRecord.self) }
    }

    private func open(
        _ access: RemoteAccess<Product>, document: String? = nil
    ) async throws -> (driver: SyncDriver<Product>, remote: ServiceRemote<Product>) {
        let scope = try await SyncScope.open(
            "", of: access, in: container.storage, manager: "products", document: document, behind: nil,
            resolution: .lastWriterWins, publish: { _ in })
        guard case .service(let remote) = scope.remote else { throw RemoteError.notFound }
        return (scope.driver, remote)
    }

    private func stored() async throws -> [Product] { try await container.storage.query(Product.self).fetch() }

    @Test("A change right after an empty snapshot is received without a pause")
    func changeAfterEmptySnapshot() async throws {
        let (driver, _) = try await open(RemoteAccess(mock))
        await driver.startListening()
        await driver.waitForSnapshot()
        mock.change(Product("a"))
        try await eventually { try await stored() == [Product("a")] }
        await driver.stop()
    }

    enum Listener: CaseIterable {
        case none, emptyCollection, collection, unreadableDocument, queryWithoutMatches, withoutStreams
        case noDocument, missingDocument, documentWithoutStream
    }

    @Test("The next pull waits if there is nothing", arguments: Listener.allCases)
    func idle(_ listener: Listener) async throws {
        let documents = MockRemoteDocumentService<Product>(delay: .zero)
        switch listener {
        case .none, .emptyCollection, .withoutStreams, .noDocument, .missingDocument: break
        case .collection, .queryWithoutMatches: mock.change(Product("a"))
        case .unreadableDocument: mock.change(Product("a", price: .infinity))
        case .documentWithoutStream: documents.change(Product("a"))
        }
        let (driver, remote) =
            switch listener {
            case .none, .emptyCollection, .collection, .unreadableDocument, .queryWithoutMatches:
                try await open(RemoteAccess(mock))
            case .withoutStreams: try await open(RemoteAccess(LimitedRemote(mock, .queries)))
            case .noDocument: try await open(RemoteAccess(documents))
            case .missingDocument: try await open(RemoteAccess(documents), document: "a")
            case .documentWithoutStream:
                try await open(RemoteAccess(LimitedDocuments(documents)), document: "a")
            }
        if listener == .queryWithoutMatches {
            try await remote.setQuery(QueryBuilder().where("note", isEqualTo: "listed"))
        }
        if listener != .none {
            await driver.startListening()
            await driver.waitForSnapshot()
        }
        try await expectIdle(driver, remote)
        await driver.stop()
    }

    @Test("A pull waits while the only change is of a document that is being written")
    func documentBeingWritten() async throws {
        let (isWriting, write) = AsyncStream<Void>.makeStream()
        let picky = PickyRemote(mock)
        picky.willWrite = { _ in for await _ in isWriting {} }
        let (driver, remote) = try await open(RemoteAccess(picky))
        await driver.startListening()
        await driver.waitForSnapshot()
        try await container.storage.save(Product("a"))
        try await eventually { picky.attempts == ["a"] }
        mock.change(Product("a", note: "theirs"))
        try await eventually { await remote.received.count == 1 }
        try await expectIdle(driver, remote)
        write.finish()
        try await eventually { await remote.isSettled }
        try await expectIdle(driver, remote)
        await driver.stop()
    }

    /// Such as those of a service that finishes them after each poll.
    @Test("The collection isn't fetched in a loop if the streams end at once", arguments: [false, true])
    func endedStreams(isEmpty: Bool) async throws {
        let service = EndingService(isEmpty ? [] : [Product("a")])
        let (driver, _) = try await open(service.access)
        await driver.startListening()
        for attempt in 1...3 {
            // Each failure is followed by a retry delay, although the page before it was received.
            try await eventually { await driver.status.status.connection.isWaiting }
            #expect(service.fetchCount == attempt)
            await driver.take(.retryNow)
            try await eventually { service.fetchCount == attempt + 1 }
        }
        await driver.stop()
    }

    /// Checks that a pull waits, and that the pulls of some time are no more than those that have waited.
    private func expectIdle(
        _ driver: SyncDriver<Product>, _ remote: ServiceRemote<Product>, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await eventually { await remote.waiters.count == 1 }
        let start = ContinuousClock.now
        let pages = await driver.pageCount
        try await Task.sleep(for: .milliseconds(100))
        let pulls = await driver.pageCount - pages
        let ended = Int((ContinuousClock.now - start) / ServiceRemote<Product>.longestPull)
        // The pull that waited at the start may end at any time, and the page of the one before may be counted late.
        #expect(pulls <= ended + 2, sourceLocation: location)
        try await eventually { await remote.waiters.count == 1 }
    }
}

/// A collection whose streams end at once.
@MainActor
private final class EndingService {
    private let collection: [Product]
    private(set) var fetchCount = 0

    init(_ collection: [Product]) { self.collection = collection }

    var access: RemoteAccess<Product> {
        RemoteAccess(
            capabilities: .standard, missing: [], path: { "" }, save: { _ in }, update: { _, _ in }, delete: { _ in },
            get: { _ in throw RemoteError.notFound }, streamDocument: { _ in AsyncThrowingStream { $0.finish() } },
            getAll: { [self] in
                fetchCount += 1
                return collection
            },
            find: nil, listen: { _, _ in AsyncThrowingStream { $0.finish() } })
    }
}

extension ServiceRemote {
    /// Whether nothing is to be returned, fetched or saved as accepted.
    fileprivate var isSettled: Bool { received.isEmpty && fetches.isEmpty && unsaved.isEmpty }
}

extension SyncStatus.Connection {
    fileprivate var isWaiting: Bool { if case .waiting = self { true } else { false } }
}
