public import Foundation
internal import StorageCore

/// The status of synchronization between a store and a remote.
///
/// ```swift
/// for await status in watchlistSyncEngine.statuses {
///     print(status.connection, status.pendingCount, status.lastError ?? "")
///     if status.pendingCount == 0 { break }
/// }
/// ```
public struct SyncStatus: Sendable, Equatable {
    /// The state of the connection to the remote.
    public enum Connection: Sendable, Equatable {
        /// The engine hasn't been used yet, or no user is signed in.
        case idle
        /// The remote is being contacted for the first time.
        case connecting
        /// The remote is answering.
        case connected
        /// The remote couldn't be reached; the engine retries at this time.
        case waiting(until: Date)
        /// The remote requires other credentials.
        case unauthorized
        /// Sending has stopped for this reason, because writes could be applied twice.
        /// ``CollectionSyncEngine/startOver()`` continues.
        case halted(String)
        /// The store couldn't be read or written, for this reason. The engine retries; after a failure of the disk, or if the
        /// store was closed, the program has to open it again. The counts are those of the last time.
        case failed(String)
    }

    /// A write that the remote has rejected permanently or that can't be sent, or several writes to one document that
    /// were sent as one. Later writes to the document wait until it is retried or discarded.
    ///
    /// A write whose document can't be written as JSON, such as one with an infinity, can't be sent: correct the
    /// document, and discard or retry the write. The correction is then sent with the other changes of that write and
    /// of those after it. A write that was already corrected when it is sent isn't parked. If only one of the write and
    /// its correction has a precondition, they can't be sent as one: the write is parked, and only discarding it helps.
    ///
    /// ```swift
    /// for write in watchlistSyncEngine.parked {
    ///     print(write.documentId, write.reason)
    ///     try await watchlistSyncEngine.discard(write)
    /// }
    /// ```
    public struct ParkedWrite: Sendable, Equatable, Identifiable {
        /// The position of the write's event in the store's log, or of the last event if several writes were sent as
        /// one.
        public let position: Int64
        /// The id of the document.
        public let documentId: String
        /// Why the remote has rejected the write, or why it can't be sent.
        public let reason: String

        /// The same as ``position``.
        public var id: Int64 { position }
    }

    /// A remote document that can't be stored as a row, because it can't be decoded as its type, the schema rejects it,
    /// or it or its unsent writes can't be written as JSON. The row isn't changed. The engine retries when the document changes, and when the engine is opened.
    public struct UnreadableDocument: Sendable, Equatable, Identifiable {
        /// The id of the document.
        public let documentId: String
        /// Why it can't be stored.
        public let reason: String

        /// The document's id.
        public var id: String { documentId }
    }

    /// The maximum number of documents in ``unreadable``.
    static let namedUnreadableDocuments = 100

    /// The state of the connection to the remote.
    public internal(set) var connection = Connection.idle
    /// The number of writes that the remote hasn't accepted yet, including parked ones.
    public internal(set) var pendingCount = 0
    /// The parked writes, in the order in which they were made.
    public internal(set) var parked: [ParkedWrite] = []
    /// The remote documents that can't be stored as rows: at most 100, the first by id.
    public internal(set) var unreadable: [UnreadableDocument] = []
    /// The last error; nil once the remote has answered again.
    public internal(set) var lastError: String?
    /// Whether writes are lost: the remote was restored to a state before them, and this store doesn't keep them any
    /// more.
    public internal(set) var hasLostWrites = false
    /// Capabilities that the remote service lacks, which the engine compensates for or does without.
    public internal(set) var missingCapabilities: RemoteCapabilities = []
}

/// A status with its sequence number, so that one that arrives late is ignored.
struct NumberedStatus: Sendable {
    let number: Int
    let status: SyncStatus
}

extension SyncStatus {
    init(_ core: SyncCore, unreadable: [UnreadableDocument], lastError: String?) {
        self.unreadable = unreadable
        connection =
            switch core.connection {
            case .offline: .idle
            case .closed where core.record.failures > 0: .waiting(until: Date(microseconds: core.record.retryTime))
            case .closed, .handshake: .connecting
            case .open: .connected
            case .unauthorized: .unauthorized
            case .halted(let reason): .halted(reason.description)
            }
        pendingCount = core.outbox.unacceptedCount
        parked = core.outbox.parked.compactMap { write in
            // The last of several writes that were sent as one represents all.
            guard case .parked(let rejection) = write.state, write.remoteName == write.position else { return nil }
            return ParkedWrite(
                position: write.position, documentId: write.document.id, reason: rejection.description)
        }
        self.lastError = lastError
        hasLostWrites = core.record.hasLostWrites
    }
}

extension SyncStatus {
    /// Why nothing is received from the remote; nil while it is connected.
    var failure: (any Error)? {
        switch connection {
        case .connected: nil
        case .idle, .connecting, .waiting: RemoteError.unavailable()
        case .unauthorized: RemoteError.unauthorized
        case .halted(let reason):
            StorageError(
                .remoteFailed, "The engine has halted: \(reason).",
                remedy: "Call startOver() to continue as a new device.")
        case .failed(let message):
            StorageError(
                .unusable, message,
                remedy:
                    "Open the store again if it was closed, or if its disk has failed. Otherwise fix it: the engine retries by itself."
            )
        }
    }
}
