public import StorageLog

/// The result of a write through a sync engine: it is in the store, and will be sent.
///
/// ```swift
/// let receipt = try await productsSyncEngine.saveDocument(product)
/// try await receipt.confirmed()  // if the remote's answer matters
/// ```
public struct SyncReceipt: Sendable {
    /// The position of the write in the store's log.
    public let local: CommitReceipt
    let wait: @Sendable (ClosedRange<Int64>) async throws -> Void

    /// Returns once the remote has accepted the write; at once if nothing had to be changed. Offline, that may take
    /// forever.
    ///
    /// - Throws: ``SyncWriteError`` if the remote has rejected the write, or it was discarded; `CancellationError` if
    ///   the task is cancelled, or the engine stops sending before: the write then stays pending.
    public func confirmed() async throws {
        guard local.commit != nil else { return }
        try await wait(local.first...local.last)
    }
}

extension SyncReceipt: CustomStringConvertible {
    /// The commit in the store: `t:12 @101..@140`.
    public var description: String { local.description }
}
