import EntityTestSupport
import Foundation
import StorageEntities
import StorageKit
import StorageMaintenance
import TestSupport
import Testing

/// P10: a byte that is changed behind our back is reported, or harmless.
@Suite struct CorruptedInputTests {
    /// A small store with everything in it: sealed runs and a tail, several entities, tombstones, keys, an index.
    private func makeStore(_ path: String) async throws {
        var configuration = StorageConfig()
        configuration.segmentLength = 8
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration) {
            $0.autoSchema(PersonRecord.self, NoteRecord.self)
        }.facade
        try await storage.write(actor: "anna", reason: "index") { tx in
            try tx.execute("CREATE INDEX people_by_name ON persons(name)")
        }
        for number in 0..<12 {
            try await storage.write(actor: "anna", idempotencyKey: "key-\(number)", attributes: ["n": "\(number)"]) {
                tx in
                try tx.save(Person(id: "\(number % 5)", name: "Name \(number)", age: number, score: Double(number) / 3))
                try tx.save(Note(id: number, text: String(repeating: "note \(number) ", count: 4)))
                if number % 4 == 3 { try tx.delete(Note.self, id: number - 1) }
            }
        }
        try await storage.seal()
        try await storage.save(Note(id: 100, text: "in the tail"))
        try await storage.close()
    }

    private struct Content {
        let report: VerifyReport
        var events: [StorageEvent] = []
        var people: [Person] = []
        var notes: [Note] = []
    }

    private func expectSame(_ content: Content, _ expected: Content, _ comment: Comment) {
        #expect(content.events == expected.events, comment)
        #expect(content.people == expected.people, comment)
        #expect(content.notes == expected.notes, comment)
    }

    private func content(_ path: String) async throws -> Content {
        let configuration = StorageConfig(isReadOnly: true)
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration).facade
        let report = try await storage.verify()
        var events: [StorageEvent] = []
        guard report.isSound else { return Content(report: report) }
        var query = LogQuery()
        query.includesSchema = true
        for try await event in storage.log.events(query) { events.append(event) }
        let people = try await storage.all(Person.self)
        let notes = try await storage.all(Note.self)
        try await storage.close()
        return Content(report: report, events: events, people: people, notes: notes)
    }

    @Test("Every flipped byte is found or harmless")
    func everyFlippedByte() async throws {
        let folder = try TemporaryFolder()
        let original = folder.path("original.sqlite")
        try await makeStore(original)
        let expected = try await content(original)
        #expect(expected.report.isSound, "\(expected.report.findings)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: original))
        let stride =
            Int(ProcessInfo.processInfo.environment["STORAGEKIT_FLIP_STRIDE"] ?? "")
            ?? max(1, Int(509 / max(0.5, testScale)))
        var found = 0
        var harmless = 0
        // The same bytes every day, others where more are asked for.
        let start = testScale > 1 ? Int.random(in: 0..<stride) : 0
        for offset in Swift.stride(from: start, to: bytes.count, by: stride) {
            var damaged = bytes
            damaged[offset] ^= 1 << UInt8(offset % 8)
            let path = folder.path("damaged.sqlite")
            try damaged.write(to: URL(fileURLWithPath: path))
            do {
                let content = try await content(path)
                if content.report.isSound {
                    harmless += 1
                    expectSame(content, expected, "byte \(offset) changes what is read, and verify doesn't see it")
                } else {
                    found += 1
                }
            } catch is StorageError {
                found += 1
            }
            try? FileManager.default.removeItem(atPath: path + "-wal")
            try? FileManager.default.removeItem(atPath: path + "-shm")
        }
        #expect(found > 0, "found \(found), harmless \(harmless)")
        #expect(harmless > 0, "found \(found), harmless \(harmless)")
        print("flips: \(found) found, \(harmless) harmless of \(bytes.count) bytes")
    }

    /// The end of a page may be unused, so that a cut can lose nothing: then all of it is read as before.
    @Test("A truncated store is an error, or has lost nothing")
    func truncatedStore() async throws {
        let folder = try TemporaryFolder()
        let original = folder.path("original.sqlite")
        try await makeStore(original)
        let expected = try await content(original)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: original))
        var found = 0
        for length in Swift.stride(from: 512, to: bytes.count, by: 2 * 4_096 + 512) {
            let path = folder.path("cut.sqlite")
            try bytes.prefix(length).write(to: URL(fileURLWithPath: path))
            do {
                let content = try await content(path)
                if content.report.isSound {
                    #expect(length > bytes.count - 4_096, "cut to \(length) of \(bytes.count) bytes")
                    expectSame(content, expected, "cut to \(length) bytes")
                } else {
                    found += 1
                }
            } catch is StorageError {
                found += 1
            }
        }
        #expect(found > 0)
    }
}
