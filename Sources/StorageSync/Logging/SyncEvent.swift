internal import Foundation

/// What sync engines log. Names and parameters are those of SwiftfulDataManagers, so that code written for its events
/// keeps working; the last five are our own.
///
/// If both engines have an event with the same name, the one without a document's id belongs to collections.
package struct SyncEvent: DataSyncLogEvent {
    package let eventName: String
    package let type: DataLogType
    private let values: [String: any Sendable]

    package var parameters: [String: Any]? { values.isEmpty ? nil : values.mapValues { $0 } }

    /// - Parameter values: Nil values are omitted.
    private init(
        _ key: String, _ name: String, parameters values: [String: (any Sendable)?] = [:], error: (any Error)? = nil,
        type: DataLogType? = nil
    ) {
        eventName = "\(key)_\(name)"
        self.type = type ?? (error == nil ? .info : .severe)
        var values = values.compactMapValues { $0 }
        if let error {
            values["error_localized_description"] = error.localizedDescription
            values["error_description"] = "\(error)"
        }
        self.values = values
    }
}

// MARK: Reads

extension SyncEvent {
    package static func getCollectionStart(key: String) -> SyncEvent { SyncEvent(key, "getCollection_start") }

    package static func getCollectionSuccess(key: String, count: Int) -> SyncEvent {
        SyncEvent(key, "getCollection_success", parameters: ["count": count])
    }

    package static func getCollectionFail(key: String, error: any Error) -> SyncEvent {
        SyncEvent(key, "getCollection_fail", error: error)
    }

    package static func getDocumentStart(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "getDocument_start", parameters: ["document_id": documentId])
    }

    package static func getDocumentSuccess(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "getDocument_success", parameters: ["document_id": documentId])
    }

    package static func getDocumentFail(key: String, documentId: String, error: any Error) -> SyncEvent {
        SyncEvent(key, "getDocument_fail", parameters: ["document_id": documentId], error: error)
    }

    package static func getDocumentsQueryStart(key: String, filterCount: Int) -> SyncEvent {
        SyncEvent(key, "getDocumentsQuery_start", parameters: ["filter_count": filterCount])
    }

    package static func getDocumentsQuerySuccess(key: String, count: Int, filterCount: Int) -> SyncEvent {
        SyncEvent(key, "getDocumentsQuery_success", parameters: ["count": count, "filter_count": filterCount])
    }

    package static func getDocumentsQueryFail(key: String, filterCount: Int, error: any Error) -> SyncEvent {
        SyncEvent(key, "getDocumentsQuery_fail", parameters: ["filter_count": filterCount], error: error)
    }
}

// MARK: Streams

extension SyncEvent {
    package static func streamDocumentStart(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "streamDocument_start", parameters: ["document_id": documentId])
    }

    package static func listenerStart(key: String, documentId: String? = nil) -> SyncEvent {
        SyncEvent(key, "listener_start", parameters: ["document_id": documentId])
    }

    package static func listenerSuccess(key: String, count: Int) -> SyncEvent {
        SyncEvent(key, "listener_success", parameters: ["count": count])
    }

    package static func listenerSuccess(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "listener_success", parameters: ["document_id": documentId])
    }

    package static func listenerEmpty(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "listener_empty", parameters: ["document_id": documentId])
    }

    package static func listenerFail(key: String, documentId: String? = nil, error: any Error) -> SyncEvent {
        SyncEvent(key, "listener_fail", parameters: ["document_id": documentId], error: error)
    }

    package static func listenerStopped(key: String) -> SyncEvent { SyncEvent(key, "listener_stopped") }

    package static func bulkLoadStart(key: String) -> SyncEvent { SyncEvent(key, "bulkLoad_start") }

    package static func bulkLoadSuccess(key: String, count: Int) -> SyncEvent {
        SyncEvent(key, "bulkLoad_success", parameters: ["count": count])
    }

    package static func bulkLoadFail(key: String, error: any Error) -> SyncEvent {
        SyncEvent(key, "bulkLoad_fail", error: error)
    }

    /// A document was received that exists at the remote.
    package static func documentUpdated(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "documentUpdated", parameters: ["document_id": documentId])
    }

    /// A document's deletion was received.
    package static func documentDeleted(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "documentDeleted", parameters: ["document_id": documentId])
    }
}

// MARK: Writes

extension SyncEvent {
    package static func saveStart(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "save_start", parameters: ["document_id": documentId])
    }

    package static func saveSuccess(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "save_success", parameters: ["document_id": documentId])
    }

    package static func saveFail(key: String, documentId: String, error: any Error) -> SyncEvent {
        SyncEvent(key, "save_fail", parameters: ["document_id": documentId], error: error)
    }

    package static func updateStart(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "update_start", parameters: ["document_id": documentId])
    }

    package static func updateSuccess(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "update_success", parameters: ["document_id": documentId])
    }

    package static func updateFail(key: String, documentId: String, error: any Error) -> SyncEvent {
        SyncEvent(key, "update_fail", parameters: ["document_id": documentId], error: error)
    }

    package static func deleteStart(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "delete_start", parameters: ["document_id": documentId])
    }

    package static func deleteSuccess(key: String, documentId: String) -> SyncEvent {
        SyncEvent(key, "delete_success", parameters: ["document_id": documentId])
    }

    package static func deleteFail(key: String, documentId: String, error: any Error) -> SyncEvent {
        SyncEvent(key, "delete_fail", parameters: ["document_id": documentId], error: error)
    }

    package static func pendingWriteAdded(key: String, count: Int) -> SyncEvent {
        SyncEvent(key, "pendingWriteAdded", parameters: ["pending_write_count": count])
    }

    package static func pendingWritesCleared(
        key: String, documentId: String? = nil, remainingCount: Int? = nil
    ) -> SyncEvent {
        SyncEvent(
            key, "pendingWritesCleared", parameters: ["document_id": documentId, "remaining_count": remainingCount])
    }

    package static func syncPendingWritesStart(key: String, count: Int) -> SyncEvent {
        SyncEvent(key, "syncPendingWrites_start", parameters: ["pending_write_count": count])
    }

    package static func syncPendingWritesComplete(key: String, synced: Int, failed: Int) -> SyncEvent {
        SyncEvent(key, "syncPendingWrites_complete", parameters: ["synced_count": synced, "failed_count": failed])
    }

    package static func cachesCleared(key: String) -> SyncEvent { SyncEvent(key, "cachesCleared") }
}

// MARK: Those that SwiftfulDataManagers doesn't have

extension SyncEvent {
    /// The remote will never accept a write.
    package static func writeParked(key: String, documentId: String, reason: String) -> SyncEvent {
        SyncEvent(key, "writeParked", parameters: ["document_id": documentId, "reason": reason], type: .severe)
    }

    /// A document of the remote can't be stored as a row.
    package static func documentUnreadable(key: String, documentId: String, reason: String) -> SyncEvent {
        SyncEvent(key, "documentUnreadable", parameters: ["document_id": documentId, "reason": reason], type: .severe)
    }

    /// Another account is signed in, or none. Paths may identify people, so they are omitted.
    package static func pathChanged(key: String) -> SyncEvent { SyncEvent(key, "pathChanged") }

    /// The remote service lacks capabilities that the engine uses.
    package static func remoteLimited(key: String, missing: RemoteCapabilities) -> SyncEvent {
        SyncEvent(key, "remoteLimited", parameters: ["missing_capabilities": missing.description])
    }

    /// The remote can't be reached, and is retried after a delay. Not severe: devices are offline at times.
    package static func remoteUnavailable(key: String, reason: String?, delaySeconds: Double) -> SyncEvent {
        SyncEvent(key, "remoteUnavailable", parameters: ["error_description": reason, "delay_seconds": delaySeconds])
    }
}
