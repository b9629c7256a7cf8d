import Logging
import StorageSync
import Synchronization
import TestSupport
import Testing

/// Events of engines as swift-log has them.
@MainActor @Suite struct SwiftLogSyncLoggerTests {
    struct Line: Sendable, Equatable {
        let level: Logger.Level
        let message: String
        let metadata: Logger.Metadata
        let source: String
    }

    final class Lines: Sendable {
        private let lines = Mutex<[Line]>([])
        var all: [Line] { lines.withLock { $0 } }
        func add(_ line: Line) { lines.withLock { $0.append(line) } }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.add(
                Line(
                    level: event.level, message: "\(event.message)",
                    metadata: metadata.merging(event.metadata ?? [:]) { $1 }, source: event.source))
        }
    }

    private func logger(_ lines: Lines, level: Logger.Level = .trace) -> Logger {
        var logger = Logger(label: "sync", factory: { _ in Handler(lines: lines) })
        logger.logLevel = level
        return logger
    }

    private struct Event: DataSyncLogEvent {
        let eventName = "counted"
        let values: [String: any Sendable]
        var parameters: [String: Any]? { values }
        let type = DataLogType.analytic
    }

    @Test("Names, levels and parameters are passed on")
    func namesLevelsAndParameters() {
        let lines = Lines()
        let logger = SwiftLogSyncLogger(logger(lines))
        logger.trackEvent(event: SyncEvent.saveStart(key: "k", documentId: "a"))
        logger.trackEvent(event: SyncEvent.writeParked(key: "k", documentId: "a", reason: "no"))
        logger.trackEvent(event: Event(values: ["n": 3, "list": [1, 2], "map": ["x": true]]))
        logger.trackEvent(event: SyncEvent.cachesCleared(key: "k"))
        #expect(lines.all.map(\.message) == ["k_save_start", "k_writeParked", "counted", "k_cachesCleared"])
        #expect(lines.all.map(\.level) == [.debug, .error, .info, .debug])
        #expect(lines.all[0].metadata == ["document_id": "a"])
        #expect(lines.all[1].metadata["reason"] == "no")
        #expect(lines.all[2].metadata == ["n": "3", "list": ["1", "2"], "map": ["x": "true"]])
        #expect(lines.all[3].metadata.isEmpty)
        #expect(lines.all.allSatisfy { $0.source == "StorageSync" })
    }

    @Test("Levels can be chosen, and the logger's own level counts")
    func customLevels() {
        let lines = Lines()
        let quiet = SwiftLogSyncLogger(logger(lines, level: .warning)) { $0 == .severe ? .warning : .trace }
        quiet.trackEvent(event: SyncEvent.saveStart(key: "k", documentId: "a"))
        quiet.trackEvent(event: SyncEvent.writeParked(key: "k", documentId: "a", reason: "no"))
        #expect(lines.all.map(\.level) == [.warning])
    }

    /// The document that an engine of single documents follows says who the user is.
    @Test("The followed document is the user's properties")
    func userProperties() async throws {
        let lines = Lines()
        let remote = MockRemoteDocumentService(document: Product("anna"), delay: .zero)
        remote.change(Product("ben"))
        let engine = DocumentSyncEngine<Product>(
            remote: remote, managerKey: "user", enableLocalPersistence: false, logger: SwiftLogSyncLogger(logger(lines))
        )
        try await engine.startListening(documentId: "anna")
        try await engine.updateDocument(data: ["price": 2.0])
        let line = try #require(lines.all.last)
        #expect(line.message == "user_update_success")
        #expect(line.metadata["user_id"] == "anna")
        try await eventually { engine.pendingCount == 0 }
        let recorder = EventRecorder()
        let other = DocumentSyncEngine<Product>(
            remote: remote, managerKey: "user", enableLocalPersistence: false, logger: recorder)
        try await other.startListening(documentId: "anna")
        try await other.startListening(documentId: "anna")
        #expect(recorder.properties.map(\.id) == ["anna"])
        remote.change(Product("anna", price: 3))
        try await eventually { recorder.properties.count == 2 }
        try await other.startListening(documentId: "ben")
        #expect(recorder.properties.map(\.id) == ["anna", "anna", "ben"])
        #expect(recorder.properties.map(\.isHighPriority) == [true, false, true])
        // A collection is nobody's profile.
        let products = CollectionSyncEngine<Product>(
            remote: MockRemoteCollectionService(collection: [Product("x")], delay: .zero), managerKey: "products",
            enableLocalPersistence: false, logger: recorder)
        await products.startListening()
        #expect(recorder.properties.count == 3)
    }
}
