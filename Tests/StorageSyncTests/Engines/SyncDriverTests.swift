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

    @Test(.timeLimit(.minutes(1))) func whoeverListensToASilentRemoteGoesOnAfterItsTime() async throws {
        let store = SyncStore<Product>(storage: try SyncedShop().storage, manager: "products", path: "products")
        var configuration = SyncCore.Configuration()
        configuration.requestMicroseconds = 20_000
        let driver = SyncDriver(
            store: store, state: try await store.activate(), remote: SilentRemote(), configuration: configuration,
            publish: { _ in })
        await driver.start()
        await driver.listen()
        let status = await driver.status
        #expect(status.connection.isWaiting)
        await driver.stop()
    }
}

extension SyncStatus.Connection {
    fileprivate var isWaiting: Bool { if case .waiting = self { true } else { false } }
}
