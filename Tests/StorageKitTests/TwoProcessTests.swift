import Foundation
import StorageKit
import Testing

/// P7 of the engine: one process writes, any number read, and nobody but the writer checkpoints.
@Suite(.serialized) struct TwoProcessTests {
    private func readOnly() -> StorageConfiguration {
        var configuration = StorageConfiguration()
        configuration.isReadOnly = true
        return configuration
    }

    @Test func aSecondWriterIsRefusedAndToldWhoHoldsTheStore() async throws {
        let folder = try TemporaryFolder()
        let worker = try Worker(store: folder.file("a.sqlite"), mode: "hold", prefix: "x")
        #expect(try await worker.waitForLines(1))
        let error = #expect(throws: StorageError.self) {
            try StorageKit.start(at: URL(fileURLWithPath: folder.file("a.sqlite")))
        }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("process \(worker.pid)") ?? false)
        _ = worker.kill()
        // The kernel lets go of a dead process's lock.
        _ = try StorageKit.start(at: URL(fileURLWithPath: folder.file("a.sqlite")))
    }

    /// SQLite before 3.51.3 can corrupt a file when one process checkpoints while another commits. Readers that come
    /// and go, and writers that try to, must never get so far.
    @Test func readersThatComeAndGoWhileAnotherProcessWritesNeverCheckpoint() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("b.sqlite")
        let worker = try Worker(store: path, mode: "group", prefix: "w")
        #expect(try await worker.waitForLines(1))
        var heads: [Int64] = []
        let end = ContinuousClock.now + .seconds(max(1, 2 * testScale))
        // At least a few readers, however slow the machine is.
        while ContinuousClock.now < end || heads.count < 4 {
            let reader = try StorageKit.start(at: URL(fileURLWithPath: path), configuration: readOnly()).facade
            // Up to the head as the reader found it: the writer may well be faster than a reader.
            var query = LogQuery()
            query.positions = 1...max(1, reader.head)
            var last: Int64 = 0
            for try await event in reader.log.events(query) {
                #expect(event.position > last)
                last = event.position
            }
            heads.append(last)
            try await reader.close()
            #expect(throws: StorageError.self) { try StorageKit.start(at: URL(fileURLWithPath: path)) }
        }
        let acknowledged = worker.kill()
        #expect(heads == heads.sorted() && heads.first != heads.last, "the readers saw no progress: \(heads)")
        #expect(!acknowledged.isEmpty)
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path)).facade
        let report = try await storage.verify()
        #expect(report.isSound, "\(report.findings)")
    }
}
