internal import StorageKit
internal import StorageLog

/// One path of a remote while its documents are in the store, and what sends and receives them.
struct SyncScope<T: DataSyncModelProtocol>: Sendable {
    let store: SyncStore<T>
    let remote: ServiceRemote<T>
    let driver: SyncDriver<T>

    var path: String { store.path }

    /// - Parameter document: Of an engine of one document, its id.
    static func open(
        _ path: String, of access: RemoteAccess<T>, in storage: Storage, manager: String, document: String?,
        resolution: ConflictResolution<T>, publish: @escaping @Sendable (NumberedStatus) -> Void
    ) async throws -> SyncScope {
        let store = SyncStore<T>(storage: storage, manager: manager, path: path, resolution: resolution)
        let state = try await store.activate(document: document)
        let remote = ServiceRemote(
            access, store: store, since: state.row.since, document: document ?? state.row.document)
        var configuration = SyncCore.Configuration()
        // A service takes them one by one.
        configuration.batchWrites = 50
        // Nor can it be put back to a backup in a way that would be noticed.
        configuration.confirmedWrites = 0
        configuration.mergesConflicts = resolution.merges
        let driver = SyncDriver(
            store: store, state: state, remote: remote, configuration: configuration, publish: publish)
        await driver.start()
        return SyncScope(store: store, remote: remote, driver: driver)
    }
}
