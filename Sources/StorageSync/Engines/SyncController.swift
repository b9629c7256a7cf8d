internal import Foundation
internal import Observation
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// The common part of both engines: finds the store, follows the remote's path from account to account, and publishes
/// the documents.
@MainActor @Observable
final class SyncController<T: DataSyncModelProtocol> {
    typealias Extent = SyncStore<T>.Extent

    @ObservationIgnored let key: String
    @ObservationIgnored let access: RemoteAccess<T>
    @ObservationIgnored let logger: (any DataSyncLogger)?
    @ObservationIgnored let persists: Bool
    @ObservationIgnored let resolution: ConflictResolution<T>
    @ObservationIgnored var container: PersistenceContainer?
    @ObservationIgnored var extent: Extent

    /// By id.
    var documents: [T] = []
    var status = SyncStatus()
    /// The log position as of which the shown documents were read.
    @ObservationIgnored var shownPosition: Int64 = 0
    /// Changed documents whose rows couldn't be read.
    @ObservationIgnored var unread: Set<ExactText> = []
    /// The number of clearings of the store that are still to be done. Until then, nothing is shown.
    @ObservationIgnored var clearings = 0
    /// The path whose documents are shown; nil before they were read.
    @ObservationIgnored var shownPath: String?
    @ObservationIgnored var scope: SyncScope<T>?
    /// The number of the last shown status of the scope's driver.
    @ObservationIgnored var statusNumber = 0
    /// The last change of the scope; changes run one after another.
    @ObservationIgnored var change: Task<Void, Never>?
    @ObservationIgnored var changeNumber = 0
    @ObservationIgnored var feed: Task<Void, Never>?
    @ObservationIgnored var statusFeed: Task<Void, Never>?
    /// Changes up to this position aren't logged one by one, because all documents were fetched.
    @ObservationIgnored var loadedPosition: Int64 = 0
    @ObservationIgnored var statusEvents: SyncStatusEvents
    /// Whether the remote's missing capabilities were logged.
    @ObservationIgnored var hasLoggedLimits = false
    /// The followed document as last reported to the logger, as JSON.
    @ObservationIgnored var userProperties: (id: String, json: String)?
    @ObservationIgnored var statusListeners: [UUID: AsyncStream<SyncStatus>.Continuation] = [:]

    init(
        _ access: RemoteAccess<T>, key: String, persists: Bool, extent: Extent, resolution: ConflictResolution<T>,
        logger: (any DataSyncLogger)?
    ) {
        self.access = access
        self.key = key
        self.persists = persists
        self.extent = extent
        self.resolution = resolution
        self.logger = logger
        statusEvents = SyncStatusEvents(key: key)
        container = persists ? PersistenceContainer.current : nil
        status.missingCapabilities = access.missing
        showCached()
    }

    deinit {
        feed?.cancel()
        statusFeed?.cancel()
        if let driver = scope?.driver { Task { await driver.stop() } }
        for listener in statusListeners.values { listener.finish() }
    }

    func log(_ event: SyncEvent) { logger?.trackEvent(event: event) }
}
