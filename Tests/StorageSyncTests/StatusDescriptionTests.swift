import Foundation
import StorageCore
import Testing

@testable import StorageSync

/// What `print` shows of the states of engines and sources.
@Suite struct StatusDescriptionTests {
    @Test("The status of an engine")
    func syncStatus() {
        var status = SyncStatus()
        #expect("\(status)" == "idle, 0 pending")
        status.connection = .waiting(until: Date(timeIntervalSince1970: 0))
        status.pendingCount = 2
        status.parked = [.init(position: 7, documentId: "a", reason: "another client has deleted the document")]
        status.unreadable = [.init(documentId: "b", reason: "no name")]
        status.hasLostWrites = true
        status.lastError = "timed out"
        #expect(
            "\(status)" == """
                waiting until 1970-01-01T00:00:00Z, 2 pending, 1 parked, 1 unreadable, writes lost, last error: timed out
                  @7 a: another client has deleted the document
                  b: no name
                """)
    }

    @Test("The remedy of a failed engine names a store that was closed")
    func failedEngine() throws {
        var status = SyncStatus()
        status.connection = .failed("The store is closed.")
        let failure = try #require(status.failure as? StorageError)
        #expect(failure.remedy.contains("Open the store again if it was closed"))
    }

    @Test("The status of a source")
    func sourceStatus() {
        var status = QuerySourceStatus(source: "News.latest", parameter: "3")
        #expect("\(status)" == "News.latest(3): never refreshed")
        status.lastRefresh = Date(timeIntervalSince1970: 0)
        status.failures = 2
        status.retryTime = Date(timeIntervalSince1970: 60)
        status.lastError = "timed out"
        #expect(
            "\(status)"
                == "News.latest(3): refreshed 1970-01-01T00:00:00Z, 2 failures, next 1970-01-01T00:01:00Z: timed out")
    }
}
