public import ServiceLifecycle
internal import StorageCore
public import StorageKit

/// Keeps a store open as long as a service group runs, and closes it cleanly when the group ends.
///
/// ```swift
/// let group = ServiceGroup(
///     services: [StorageService(storage), server], gracefulShutdownSignals: [.sigterm])
/// try await group.run()
/// ```
///
/// List it before the services that use the store: a group ends its services in reverse order, so those finish writing
/// before the store is closed.
///
/// On a graceful shutdown async projections catch up, full windows of the log are sealed, and the store is closed. A
/// stalled projection isn't waited for; it is resumed when the store is opened again. If instead the task is cancelled
/// or the group's time limit is exceeded, only the projections' current batches are finished before the store is
/// closed. Either way nothing is lost: events that haven't been applied by then are applied after the next opening.
///
/// Isolation: `Sendable`, a reference to the open store.
public struct StorageService: Service {
    private let storage: Storage

    /// Creates a service that closes `storage` when the group shuts down.
    public init(_ storage: Storage) { self.storage = storage }

    /// Returns once the store is closed after a graceful shutdown.
    ///
    /// - Throws: `CancellationError` if the task was cancelled; the store is closed then, too. `StorageError` if the
    ///   disk failed meanwhile.
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
    /// The service's name in the group's log.
    public var description: String { "StorageService" }
}
