import Foundation
import StorageSync
import Testing

/// What engines log has the names that are known from SwiftfulDataManagers, and no documents.
@MainActor @Suite struct SyncEventTests {
    @Test("Names begin with the key")
    func namesBeginWithKey() throws {
        let recorder = EventRecorder()
        recorder.trackEvent(event: SyncEvent.saveStart(key: "watchlist", documentId: "a"))
        recorder.trackEvent(event: SyncEvent.remoteUnavailable(key: "watchlist", reason: "gone", delaySeconds: 4))
        recorder.trackEvent(event: SyncEvent.pathChanged(key: "watchlist"))
        #expect(
            recorder.events.map(\.eventName)
                == ["watchlist_save_start", "watchlist_remoteUnavailable", "watchlist_pathChanged"])
        #expect(recorder.events[0].parameters as? [String: String] == ["document_id": "a"])
        let unavailable = try #require(recorder.events[1].parameters)
        #expect(unavailable.count == 2)
        #expect(unavailable["error_description"] as? String == "gone")
        #expect(unavailable["delay_seconds"] as? Double == 4)
        #expect(recorder.events[2].parameters == nil)
    }

    @Test("Failures are severe and say why")
    func failuresAreSevere() {
        let event = SyncEvent.saveFail(key: "k", documentId: "a", error: RemoteError.rejected("too long"))
        #expect(event.type == .severe)
        #expect(event.parameters?["error_description"] as? String == "rejected(\"too long\")")
        #expect(event.parameters?["error_localized_description"] is String)
        #expect(event.parameters?["document_id"] as? String == "a")
        #expect(SyncEvent.writeParked(key: "k", documentId: "a", reason: "gone").type == .severe)
        let offline = SyncEvent.remoteUnavailable(key: "k", reason: nil, delaySeconds: 1)
        #expect(offline.type == .info)
        #expect(offline.parameters?.count == 1)
        #expect(SyncEvent.saveStart(key: "k", documentId: "a").type == .info)
    }

    private struct Row: Sendable, CustomTestStringConvertible {
        let event: SyncEvent
        let name: String
        let parameters: [String: String]
        let type: DataLogType
        var testDescription: String { name }

        init(_ event: SyncEvent, _ name: String, _ parameters: [String: String] = [:], _ type: DataLogType = .info) {
            self.event = event
            self.name = name
            self.parameters = parameters
            self.type = type
        }

        /// One with an error.
        init(failed event: SyncEvent, _ name: String, _ parameters: [String: String] = [:]) {
            let error = [
                "error_description": "\(SyncEventTests.error)",
                "error_localized_description": SyncEventTests.error.localizedDescription,
            ]
            self.init(event, name, parameters.merging(error) { $1 }, .severe)
        }
    }

    private nonisolated static let error = RemoteError.rejected("no")

    private nonisolated static var reads: [Row] {
        [
            Row(.getCollectionStart(key: "k"), "getCollection_start"),
            Row(.getCollectionSuccess(key: "k", count: 3), "getCollection_success", ["count": "3"]),
            Row(failed: .getCollectionFail(key: "k", error: error), "getCollection_fail"),
            Row(.getDocumentStart(key: "k", documentId: "a"), "getDocument_start", ["document_id": "a"]),
            Row(.getDocumentSuccess(key: "k", documentId: "a"), "getDocument_success", ["document_id": "a"]),
            Row(
                failed: .getDocumentFail(key: "k", documentId: "a", error: error), "getDocument_fail",
                ["document_id": "a"]),
            Row(.getDocumentsQueryStart(key: "k", filterCount: 2), "getDocumentsQuery_start", ["filter_count": "2"]),
            Row(
                .getDocumentsQuerySuccess(key: "k", count: 3, filterCount: 2), "getDocumentsQuery_success",
                ["count": "3", "filter_count": "2"]),
            Row(
                failed: .getDocumentsQueryFail(key: "k", filterCount: 2, error: error), "getDocumentsQuery_fail",
                ["filter_count": "2"]),
        ]
    }

    private nonisolated static var streams: [Row] {
        [
            Row(.streamDocumentStart(key: "k", documentId: "a"), "streamDocument_start", ["document_id": "a"]),
            Row(.listenerStart(key: "k"), "listener_start"),
            Row(.listenerStart(key: "k", documentId: "a"), "listener_start", ["document_id": "a"]),
            Row(.listenerSuccess(key: "k", count: 3), "listener_success", ["count": "3"]),
            Row(.listenerSuccess(key: "k", documentId: "a"), "listener_success", ["document_id": "a"]),
            Row(.listenerEmpty(key: "k", documentId: "a"), "listener_empty", ["document_id": "a"]),
            Row(failed: .listenerFail(key: "k", error: error), "listener_fail"),
            Row(failed: .listenerFail(key: "k", documentId: "a", error: error), "listener_fail", ["document_id": "a"]),
            Row(.listenerStopped(key: "k"), "listener_stopped"),
            Row(.bulkLoadStart(key: "k"), "bulkLoad_start"),
            Row(.bulkLoadSuccess(key: "k", count: 3), "bulkLoad_success", ["count": "3"]),
            Row(failed: .bulkLoadFail(key: "k", error: error), "bulkLoad_fail"),
            Row(.documentUpdated(key: "k", documentId: "a"), "documentUpdated", ["document_id": "a"]),
            Row(.documentDeleted(key: "k", documentId: "a"), "documentDeleted", ["document_id": "a"]),
        ]
    }

    private nonisolated static var writes: [Row] {
        [
            Row(.saveStart(key: "k", documentId: "a"), "save_start", ["document_id": "a"]),
            Row(.saveSuccess(key: "k", documentId: "a"), "save_success", ["document_id": "a"]),
            Row(failed: .saveFail(key: "k", documentId: "a", error: error), "save_fail", ["document_id": "a"]),
            Row(.updateStart(key: "k", documentId: "a"), "update_start", ["document_id": "a"]),
            Row(.updateSuccess(key: "k", documentId: "a"), "update_success", ["document_id": "a"]),
            Row(failed: .updateFail(key: "k", documentId: "a", error: error), "update_fail", ["document_id": "a"]),
            Row(.deleteStart(key: "k", documentId: "a"), "delete_start", ["document_id": "a"]),
            Row(.deleteSuccess(key: "k", documentId: "a"), "delete_success", ["document_id": "a"]),
            Row(failed: .deleteFail(key: "k", documentId: "a", error: error), "delete_fail", ["document_id": "a"]),
            Row(.cachesCleared(key: "k"), "cachesCleared"),
        ]
    }

    private nonisolated static var queues: [Row] {
        [
            Row(.pendingWriteAdded(key: "k", count: 3), "pendingWriteAdded", ["pending_write_count": "3"]),
            Row(.pendingWritesCleared(key: "k"), "pendingWritesCleared"),
            Row(
                .pendingWritesCleared(key: "k", documentId: "a", remainingCount: 0), "pendingWritesCleared",
                ["document_id": "a", "remaining_count": "0"]),
            Row(.syncPendingWritesStart(key: "k", count: 3), "syncPendingWrites_start", ["pending_write_count": "3"]),
            Row(
                .syncPendingWritesComplete(key: "k", synced: 2, failed: 1), "syncPendingWrites_complete",
                ["synced_count": "2", "failed_count": "1"]),
        ]
    }

    /// Those that SwiftfulDataManagers doesn't have.
    private nonisolated static var own: [Row] {
        [
            Row(
                .writeParked(key: "k", documentId: "a", reason: "no"), "writeParked",
                ["document_id": "a", "reason": "no"], .severe),
            Row(
                .documentUnreadable(key: "k", documentId: "a", reason: "no"), "documentUnreadable",
                ["document_id": "a", "reason": "no"], .severe),
            Row(.pathChanged(key: "k"), "pathChanged"),
            Row(
                .remoteLimited(key: "k", missing: [.queries, .changeStreams]), "remoteLimited",
                ["missing_capabilities": "changeStreams, queries"]),
            Row(
                .remoteUnavailable(key: "k", reason: "gone", delaySeconds: 4), "remoteUnavailable",
                ["error_description": "gone", "delay_seconds": "4.0"]),
        ]
    }

    @Test("Each event has its name and parameters", arguments: [reads, streams, writes, queues, own])
    private func namesAndParameters(rows: [Row]) {
        for row in rows {
            #expect(row.event.eventName == "k_\(row.name)")
            #expect((row.event.parameters ?? [:]).mapValues { "\($0)" } == row.parameters, "\(row.name)")
            #expect((row.event.parameters == nil) == row.parameters.isEmpty, "\(row.name)")
            #expect(row.event.type == row.type, "\(row.name)")
        }
    }
}
