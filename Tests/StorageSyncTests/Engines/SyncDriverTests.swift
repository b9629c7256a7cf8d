import TestSupport
import Testing

@testable import StorageSync

@MainActor @Suite struct SyncDriverTests {
    /// A remote that never answers.
    private struct SilentRemote: SyncRemote {
        func answer(_ request: SyncRequest.Kind, knowing record: SyncRecord) async throws -> SyncAnswer {
            try await Task.sleep(for: .seconds(3_600))
            throw CancellationError()
        }
        func failure(_ error: any Error) -> SyncFailure { .retryable(afterMicroseconds: nil) }
        func setListening(_ isListening: Bool) async {}
        func didSavePush(through number: Int64) async {}
        var snapshotEnd: Int64? { nil }
    }

    @Test("Listening to a silent remote continues after its time limit", .timeLimit(.minutes(10)))
    func silentRemote() async throws {
        let store = SyncStore<Product>(storage: try SyncedShop().storage, manager: "products", path: "products")
        var configuration = SyncCore.Configuration()
        configuration.requestMicroseconds = 20_000
        let driver = SyncDriver(
            store: store, state: try await store.activate(), remote: SilentRemote(), configuration: configuration,
            publish: { _ in })
        await driver.start()
        await driver.startListening()
        await driver.waitForSnapshot()
        // The next attempt may be under way already.
        try await eventually { await driver.status.status.connection.isWaiting }
        await driver.stop()
    }

    /// A remote that answers a hello once it may, and the first pull behind it with a page of nothing.
    private actor LateRemote: SyncRemote {
        private var helloWaiters: [CheckedContinuation<Void, Never>]? = []

        func welcome() {
            for waiter in helloWaiters ?? [] { waiter.resume() }
            helloWaiters = nil
        }

        func answer(_ request: SyncRequest.Kind, knowing record: SyncRecord) async throws -> SyncAnswer {
            switch request {
            case .hello:
                if helloWaiters != nil { await withCheckedContinuation { helloWaiters?.append($0) } }
                return .welcome(
                    SyncWelcome(lines: [RemoteLine(id: [1], fork: 0)], head: 0, lastNumber: 0, results: []))
            case .push: throw CancellationError()
            case .pull(_, let position): return .page(SyncPage(start: position, end: position, changes: []))
            }
        }
        nonisolated func failure(_ error: any Error) -> SyncFailure { .retryable(afterMicroseconds: nil) }
        func setListening(_ isListening: Bool) {}
        func didSavePush(through number: Int64) {}
        var snapshotEnd: Int64? { nil }
    }

    @Test("A page is waited for though the session hasn't started", .timeLimit(.minutes(10)))
    func pageBeforeSession() async throws {
        let store = SyncStore<Product>(storage: try SyncedShop().storage, manager: "products", path: "products")
        let remote = LateRemote()
        let driver = SyncDriver(
            store: store, state: try await store.activate(), remote: remote, configuration: SyncCore.Configuration(),
            publish: { _ in })
        await driver.start()
        let page = Task { try await driver.waitForPage(after: 0) }
        // Time to be waiting for the page.
        try await Task.sleep(for: .milliseconds(50))
        try await eventually { await driver.status.status.connection == .connecting }
        await remote.welcome()
        try await page.value
        #expect(await driver.pageCount > 0)
        await driver.stop()
        await #expect(throws: RemoteError.unavailable()) { try await driver.waitForPage(after: .max - 1) }
    }

    @Test("A write is counted when the engine returns", .timeLimit(.minutes(10)))
    func writeIsCountedOnReturn() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        shop.mock.failure = RemoteError.unavailable()
        for number in 1...20 {
            try await engine.saveDocument(Product("\(number)"))
            #expect(engine.pendingCount == number)
        }
    }
}

extension SyncStatus.Connection {
    fileprivate var isWaiting: Bool { if case .waiting = self { true } else { false } }
}
