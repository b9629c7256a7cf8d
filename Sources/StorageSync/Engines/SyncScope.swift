internal import StorageKit
internal import StorageLog

/// A path of a remote whose documents are in the store, with the driver that sends and receives them.
struct SyncScope<T: DataSyncModelProtocol>: Sendable {
    enum Remote: Sendable {
        case service(ServiceRemote<T>)
        case hub(HubRemote<T>)
    }

    let store: SyncStore<T>
    let remote: Remote
    let driver: SyncDriver<T>

    var path: String { store.path }

    /// - Parameters:
    ///   - document: For an engine of one document, its id.
    ///   - push: The last push of the previous engine, which may still be running.
    static func open(
        _ path: String, of access: RemoteAccess<T>, in storage: Storage, manager: String, document: String?,
        behind push: SyncPush?, resolution: ConflictResolution<T>,
        publish: @escaping @Sendable (NumberedStatus) -> Void
    ) async throws -> SyncScope {
        let store = SyncStore<T>(
            storage: storage, manager: manager, path: path, resolution: resolution,
            hasRemotePositions: access.hub != nil)
        let state = try await store.activate(document: document)
        let document = document ?? state.row.document
        var configuration = SyncCore.Configuration()
        configuration.mergesConflicts = resolution.merges
        var followed = FollowedDocuments()
        let (remote, answering): (Remote, any SyncRemote)
        if let hub = access.hub {
            let found = HubRemote(access, hub, store: store, row: state.row, document: document)
            (remote, answering) = (.hub(found), found)
            // The client gives up a request that makes no progress; one that does may take its time.
            configuration.requestMicroseconds = 600_000_000
            followed = FollowedDocuments(document: access.getAll == nil ? document ?? "" : nil, isListening: false)
        } else {
            let found = ServiceRemote(
                access, store: store, since: state.row.since, document: document, behind: push)
            (remote, answering) = (.service(found), found)
            // A service accepts them one by one.
            configuration.batchWrites = 50
            // A service that is restored from a backup can't be detected either.
            configuration.confirmedWrites = 0
            // The remote itself holds a pull that has nothing to return, also for a service that reports no changes. A
            // pause would only delay the first change after an empty snapshot.
            configuration.pullMicroseconds = 0
        }
        let driver = SyncDriver(
            store: store, state: state, remote: answering, configuration: configuration, followed: followed,
            publish: publish)
        await driver.start()
        return SyncScope(store: store, remote: remote, driver: driver)
    }
}
