import CoreMetrics
import Foundation
import GRDB
import InMemoryTracing
import Logging
import MetricsTestKit
import StorageKit
import StorageSignals
import StorageTesting
import Synchronization
import TestSupport
import Testing
import Tracing

@StorageEntity(table: "orders")
struct Order {
    var id: String
    var total: Int
}

/// What a host's logging, metrics and tracing hear of a store.
@Suite struct ReporterTests {
    private func open() throws -> Storage {
        try StorageKit.inMemory { $0.autoSchema(OrderRecord.self) }.facade
    }

    @Test("A commit has a duration, and a span with its correlation id under the caller's span")
    func commit() async throws {
        let storage = try open()
        let (metrics, tracer) = (TestMetrics(), InMemoryTracer())
        let reporter = SignalReporter(
            storage, metrics: metrics, tracer: tracer,
            configuration: SignalConfiguration(interval: .milliseconds(20)))
        let running = Task { try await reporter.run() }
        let caller = tracer.startSpan("request")
        try await ServiceContext.withValue(caller.context) {
            try await CommitContext.$correlation.withValue("request-7") {
                _ = try await storage.save(Order(id: "a", total: 1))
            }
        }
        caller.end()
        try await eventually { tracer.finishedSpans.contains { $0.operationName == "storage.commit" } }
        let span = try #require(tracer.finishedSpans.first { $0.operationName == "storage.commit" })
        #expect(span.traceID == caller.traceID)
        #expect(span.parentSpanID == caller.spanID)
        #expect(span.attributes.get("storagekit.correlation") == .string("request-7"))
        #expect(span.attributes.get("storagekit.events") == .int64(1))
        let timer = try metrics.expectTimer("storagekit_commit_duration_seconds")
        #expect(timer.values.count == 1)
        #expect(try #require(timer.values.first) > 0)
        try await eventually { (try? metrics.expectGauge("storagekit_wal_pages")) != nil }
        try await storage.close()
        running.cancel()
        _ = await running.result
    }

    @Test("A slow commit is logged with its reason and correlation id")
    func slowCommit() async throws {
        let storage = try open()
        let lines = LogLines()
        let reporter = SignalReporter(
            storage, logger: lines.logger, metrics: TestMetrics(), tracer: InMemoryTracer(),
            configuration: SignalConfiguration(slowCommit: .milliseconds(40)))
        let running = Task { try await reporter.run() }
        for number in 0..<20 { try await storage.save(Order(id: "fast \(number)", total: 1)) }
        // Until a write doesn't wait longer for its turn than it takes.
        func isSought(_ line: LogLines.Line) -> Bool {
            line.metadata["reason"] == "body" && line.metadata["correlation"] == "slow-1"
        }
        var total = 1
        try await eventually {
            total += 1
            let new = total
            _ = try await storage.write(correlation: "slow-1") { tx in
                Thread.sleep(forTimeInterval: 0.06)
                try tx.save(Order(id: "slow", total: new))
            }
            return lines.all.contains(where: isSought)
        }
        let line = try #require(lines.all.first(where: isSought))
        #expect(line.message == "slow commit")
        #expect(line.metadata["events"] == "1")
        // A few others may have been as slow, on a busy machine, but not all.
        #expect(lines.all.count { $0.metadata["correlation"] == nil } < 20)
        running.cancel()
        _ = await running.result
        try await storage.close()
    }

    @Test("A slow read is logged with its statement and that it looked at all rows")
    func slowRead() async throws {
        let storage = try open()
        try await storage.save((0..<1_000).map { Order(id: "o\($0)", total: $0) })
        let lines = LogLines()
        let reporter = SignalReporter(
            storage, logger: lines.logger, metrics: TestMetrics(), tracer: InMemoryTracer(),
            configuration: SignalConfiguration(slowRead: .zero))
        let running = Task { try await reporter.run() }
        // Until the reporter observes, and a read doesn't wait longer for a connection than it takes.
        try await eventually {
            _ = try await storage.query(Order.self).where { $0.total == 500 }.fetch()
            return lines.all.contains { $0.metadata["reason"] == "full-scan" }
        }
        let line = try #require(lines.all.first { $0.metadata["reason"] == "full-scan" })
        #expect(line.metadata["statement"]?.description.contains("orders") == true)
        running.cancel()
        _ = await running.result
        try await storage.close()
    }

    @Test("A reporter ends with its store")
    func end() async throws {
        let storage = try open()
        let reporter = SignalReporter(
            storage, metrics: TestMetrics(), tracer: InMemoryTracer(),
            configuration: SignalConfiguration(interval: .milliseconds(10)))
        try await storage.close()
        try await reporter.run()
    }
}

/// Keeps what is logged.
final class LogLines: Sendable {
    struct Line: Sendable {
        let message: String
        let metadata: Logger.Metadata
    }

    private let lines = Mutex<[Line]>([])

    var all: [Line] { lines.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.lines.withLock { $0.append(Line(message: "\(event.message)", metadata: event.metadata ?? [:])) }
        }
    }
}
