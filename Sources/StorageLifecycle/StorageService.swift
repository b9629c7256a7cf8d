public import ServiceLifecycle
internal import StorageCore
public import StorageKit

/// Keeps a store open as long as a service group runs, and closes it in order when the group ends.
///
/// ```swift
/// let group = ServiceGroup(
///     services: [StorageService(storage), server], gracefulShutdownSignals: [.sigterm])
/// try await group.run()
/// ```
///
/// Name it before the services that use the store: a group ends its services last first, so they write their last before the
/// store is closed.
///
/// On a graceful shutdown async projections catch up, full windows of the log are
/// sealed, and the store is closed. A stalled projection isn't waited for; it is resumed when the store is opened
/// again. When the
/// task is cancelled instead, or the group's patience is at an end, the projections' batches under way are finished and the store is closed
/// at once. Either way nothing is lost: what hasn't been applied by then is applied after the next opening.
///
/// Isolation: `Sendable`, a reference to the open store.
public struct StorageService: Service {
    private let storage: Storage

    /// A service that closes `storage` when the group shuts down.
    public init(_ storage: Storage) { self.storage = storage }

    /// Returns once the store is closed after a graceful shutdown.
    ///
    /// - Throws: `CancellationError` where the task was cancelled; the store is closed then too. `StorageError` where the
    ///   disk failed on the way.
    public func run() async throws {
        do {
            try await gracefulShutdown()
            try await storage.finishWork()
        } catch {
            try await storage.close()
            throw error
        }
        try await storage.close()
    }
}

extension StorageService: CustomStringConvertible {
    /// What the group's log calls it.
    public var description: String { "StorageService" }
}
