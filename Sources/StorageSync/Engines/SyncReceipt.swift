public import StorageLog

/// The result of a write through a sync engine: the write is in the store, and will be sent.
///
/// ```swift
/// let receipt = try await productsSyncEngine.saveDocument(product)
/// try await receipt.confirmed()  // if the remote's answer matters
/// ```
public struct SyncReceipt: Sendable {
    /// The position of the write in the store's log.
    public let local: CommitReceipt
    let wait: @Sendable (ClosedRange<Int64>) async throws -> Void

    /// Waits until the remote has accepted the write; returns at once if nothing had to be changed. There is no
    /// timeout, even while offline.
    ///
    /// - Throws: ``SyncWriteError`` if the write is parked, or was discarded;
    ///   `CancellationError` if the task is cancelled or the engine stops sending: the write then stays pending.
    public func confirmed() async throws {
        guard local.commit != nil else { return }
        try await wait(local.first...local.last)
    }
}

extension SyncReceipt: CustomStringConvertible {
    /// The commit in the store, such as `t:12 @101..@140`.
    public var description: String { local.description }
}
