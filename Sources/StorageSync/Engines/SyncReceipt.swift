public import StorageLog

/// What a write through a sync engine returns: it is in the store, and will be sent.
///
/// ```swift
/// let receipt = try await productsSyncEngine.saveDocument(product)
/// try await receipt.confirmed()  // where the remote's answer matters
/// ```
public struct SyncReceipt: Sendable {
    /// The position of the write in the store's log.
    public let local: CommitReceipt
    let wait: @Sendable (ClosedRange<Int64>) async throws -> Void

    /// Returns once the remote has taken the write; at once where nothing had to be changed. Without a network that can be never.
    ///
    /// - Throws: ``SyncWriteError`` where the remote has refused the write, or somebody has discarded it; `CancellationError` where the
    ///   task is cancelled, or the engine stops to send before: the write stays pending then.
    public func confirmed() async throws {
        guard local.commit != nil else { return }
        try await wait(local.first...local.last)
    }
}
