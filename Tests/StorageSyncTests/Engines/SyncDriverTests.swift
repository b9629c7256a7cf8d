import Foundation
import GRDB
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

    /// A remote that never answers requests, and says what its snapshot is when it may.
    private actor HesitantRemote: SyncRemote {
        private var waiters: [CheckedContinuation<Void, Never>]? = []
        private(set) var isAsked = false

        func release() {
            for waiter in waiters ?? [] { waiter.resume() }
            waiters = nil
        }

        func answer(_ request: SyncRequest.Kind, knowing record: SyncRecord) async throws -> SyncAnswer {
            try await Task.sleep(for: .seconds(3_600))
            throw CancellationError()
        }
        nonisolated func failure(_ error: any Error) -> SyncFailure { .retryable(afterMicroseconds: nil) }
        func setListening(_ isListening: Bool) {}
        func didSavePush(through number: Int64) {}
        var snapshotEnd: Int64? {
            get async {
                isAsked = true
                if waiters != nil { await withCheckedContinuation { waiters?.append($0) } }
                return nil
            }
        }
    }

    @Test("A write is confirmed though somebody waits for the snapshot", .timeLimit(.minutes(10)))
    func confirmationBesideSnapshot() async throws {
        let store = SyncStore<Product>(storage: try SyncedShop().storage, manager: "products", path: "products")
        let remote = HesitantRemote()
        var configuration = SyncCore.Configuration()
        // No time limit is what ends the waiting.
        configuration.requestMicroseconds = 3_600_000_000
        let driver = SyncDriver(
            store: store, state: try await store.activate(), remote: remote, configuration: configuration,
            publish: { _ in })
        await driver.start()
        await driver.startListening()
        _ = await driver.statusOfCommits()
        let snapshot = Task { await driver.waitForSnapshot() }
        try await eventually { await remote.isAsked }
        // No write is as early, so nothing is to be sent first.
        let confirmed = Task { try await driver.waitForWrites(at: 0...0) }
        try await eventually { await driver.writeWaiters.count == 1 }
        await remote.release()
        try await eventually { await driver.writeWaiters.isEmpty }
        try await confirmed.value
        await driver.stop()
        await snapshot.value
    }

    /// A driver that isn't started, so it isn't notified of commits, and reads the log when it is asked to: on a busy
    /// machine, a call may come before the notification of the last commit. It has sent "a".
    private func unstartedDriver(_ shop: SyncedShop) async throws -> SyncDriver<Product> {
        let path = try #require(shop.mock.collectionPath)
        let store = SyncStore<Product>(storage: shop.storage, manager: "products", path: path)
        let state = try await store.activate()
        let remote = ServiceRemote(RemoteAccess(shop.remote), store: store, since: state.row.since, document: nil)
        let driver = SyncDriver(
            store: store, state: state, remote: remote, configuration: SyncCore.Configuration(), publish: { _ in })
        await driver.take(.connected)
        try await shop.storage.save(Product("a"))
        try await eventually { await driver.statusOfCommits().status.pendingCount == 0 }
        return driver
    }

    private func change(_ change: String, in shop: SyncedShop) async throws {
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET \(change) WHERE id = 'a'") }
    }

    @Test("A correction that isn't noticed yet is sent once the parked write is discarded", .timeLimit(.minutes(10)))
    func discardingBehindUnnoticedCorrection() async throws {
        let shop = try SyncedShop()
        let driver = try await unstartedDriver(shop)
        try await change("price = 9e999", in: shop)
        try await eventually { await driver.statusOfCommits().status.parked.count == 1 }
        try await change("note = 'heavy'", in: shop)
        let status = await driver.statusOfCommits().status
        #expect(status.pendingCount == 2)
        try await change("price = 2", in: shop)
        try await driver.decide(.discard(position: try #require(status.parked.first).position))
        try await eventually { await driver.status.status.pendingCount == 0 }
        #expect(shop.remoteProducts == [Product("a", price: 2, note: "heavy")])
        await driver.stop()
    }

    /// The retry itself sends nothing, because a write is under way: what it knows is sent next.
    @Test("A correction that isn't noticed yet is sent after a retry", .timeLimit(.minutes(10)))
    func retryingBeforeUnnoticedCorrection() async throws {
        let shop = try SyncedShop()
        let driver = try await unstartedDriver(shop)
        let (isHeld, hold) = AsyncStream<Void>.makeStream()
        shop.remote.willWrite = { id in if id == "z" { await Task { for await _ in isHeld {} }.value } }
        try await shop.storage.save(Product("z"))
        _ = await driver.statusOfCommits()
        try await eventually { shop.remote.attempts == ["a", "z"] }
        try await change("price = 9e999", in: shop)
        #expect(await driver.statusOfCommits().status.pendingCount == 2)
        try await change("price = 2", in: shop)
        try await driver.decide(.retryNow)
        hold.finish()
        try await eventually { await driver.status.status.pendingCount == 0 }
        #expect(shop.remoteProducts == [Product("a", price: 2), Product("z")])
        await driver.stop()
    }

    /// An engine with a parked change of "a".
    private func parking(_ shop: SyncedShop) async throws -> CollectionSyncEngine<Product> {
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.errors["a"] = RemoteError.rejected("not today")
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        try await eventually { engine.parked.map(\.documentId) == ["a"] }
        shop.remote.errors = [:]
        return engine
    }

    /// Saves what the engine's driver doesn't know, as another process does.
    private func saveElsewhere(_ shop: SyncedShop) async throws {
        let path = try #require(shop.mock.collectionPath)
        _ = try await SyncStore<Product>(storage: shop.storage, manager: "products", path: path).activate()
    }

    @Test("A parked write is discarded although another driver has saved meanwhile", .timeLimit(.minutes(10)))
    func discardingAfterOtherDriver() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = try await parking(shop)
        try await saveElsewhere(shop)
        try await engine.discard(try #require(engine.parked.first))
        #expect(engine.parked.isEmpty)
        #expect(engine.currentCollection == [Product("a")])
        #expect(try await shop.stored() == [Product("a")])
    }

    @Test("A parked write is retried although another driver has saved meanwhile", .timeLimit(.minutes(10)))
    func retryingAfterOtherDriver() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = try await parking(shop)
        try await saveElsewhere(shop)
        try await engine.retry(try #require(engine.parked.first))
        try await engine.settled()
        #expect(shop.remoteProducts == [Product("a", price: 2)])
    }

    /// Begins a transaction as another process does.
    private func lock(_ url: URL) throws -> DatabaseQueue {
        var unbound = GRDB.Configuration()
        unbound.allowsUnsafeTransactions = true
        // The store may still be sealing.
        unbound.busyMode = .timeout(60)
        let foreign = try DatabaseQueue(path: url.path, configuration: unbound)
        try foreign.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        return foreign
    }

    @Test("Discarding throws while the store can't be written, and works once it can", .timeLimit(.minutes(10)))
    func discardingInLockedStore() async throws {
        try await withTemporaryFolder { folder in
            let config = StorageConfig(busyTimeout: .milliseconds(500))
            let url = folder.appendingPathComponent("shop.sqlite")
            let shop = try SyncedShop(at: url, [Product("a")], config: config)
            let engine = try await parking(shop)
            let parked = try #require(engine.parked.first)
            let foreign = try lock(url)
            let error = await #expect(throws: StorageError.self) { try await engine.discard(parked) }
            #expect(error?.code == .busy)
            #expect(engine.parked == [parked])
            try await foreign.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            try await engine.discard(parked)
            #expect(engine.parked.isEmpty)
            #expect(try await shop.stored() == [Product("a")])
            try foreign.close()
            try await shop.storage.close()
        }
    }

    /// An engine in a back-off of an hour, with a change of "a".
    private func waiting(_ shop: SyncedShop) async throws -> CollectionSyncEngine<Product> {
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.errors["a"] = RemoteError.unavailable(retryAfter: .seconds(3_600))
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        try await eventually { engine.status.connection.isWaiting }
        shop.remote.errors = [:]
        return engine
    }

    @Test("A retry ends the back-off although another driver has saved meanwhile", .timeLimit(.minutes(10)))
    func retryingNowAfterOtherDriver() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = try await waiting(shop)
        try await saveElsewhere(shop)
        try await engine.retryNow()
        try await engine.settled()
        #expect(shop.remoteProducts == [Product("a", price: 2)])
    }

    /// The second time, the engine continues from what was saved, in the same back-off.
    @Test("A retry throws each time while the store can't be written, and works once it can", .timeLimit(.minutes(10)))
    func retryingNowInLockedStore() async throws {
        try await withTemporaryFolder { folder in
            let config = StorageConfig(busyTimeout: .milliseconds(500))
            let url = folder.appendingPathComponent("shop.sqlite")
            let shop = try SyncedShop(at: url, [Product("a")], config: config)
            let engine = try await waiting(shop)
            let foreign = try lock(url)
            for _ in 1...2 {
                let error = await #expect(throws: StorageError.self) { try await engine.retryNow() }
                #expect(error?.code == .busy)
            }
            try await foreign.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            try await engine.retryNow()
            try await engine.settled()
            #expect(shop.remoteProducts == [Product("a", price: 2)])
            try foreign.close()
            try await shop.storage.close()
        }
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

    /// What waits for `pendingCount == 0` must not end because the store can't be read.
    @Test("Writes are still counted after the store has failed", .timeLimit(.minutes(10)))
    func countsAfterFailure() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        shop.mock.failure = RemoteError.unavailable()
        for number in 1...3 { try await engine.saveDocument(Product("\(number)")) }
        await #expect(throws: StorageError.self) {
            try await shop.storage.engine.withWriter { _, _ -> Void in throw StorageError.breach("a test of failures") }
        }
        try await eventually { if case .failed = engine.status.connection { true } else { false } }
        #expect(engine.pendingCount == 3)
    }
}

extension SyncStatus.Connection {
    fileprivate var isWaiting: Bool { if case .waiting = self { true } else { false } }
}
