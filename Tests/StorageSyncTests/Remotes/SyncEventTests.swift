import StorageSync
import Testing

/// What engines log has the names that are known from SwiftfulDataManagers, and no documents.
@MainActor @Suite struct SyncEventTests {
    private final class Recorder: DataSyncLogger {
        var events: [any DataSyncLogEvent] = []
        func trackEvent(event: any DataSyncLogEvent) { events.append(event) }
        func addUserProperties(dict: [String: Any], isHighPriority: Bool) {}
    }

    @Test func namesBeginWithTheKey() throws {
        let recorder = Recorder()
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

    @Test func failuresAreSevereAndSayWhy() {
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
}
