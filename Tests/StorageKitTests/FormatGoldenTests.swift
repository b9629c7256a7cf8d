import Foundation
import StorageKit
import StorageLog
import StorageTesting
import Testing

/// A store that an earlier build wrote is read as it was meant: one file for each version of the format.
///
/// `RECORD_GOLDEN=1` writes the files anew, which only a new version of the format may need.
struct FormatGoldenTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Golden")
    private static let isRecording = ProcessInfo.processInfo.environment["RECORD_GOLDEN"] != nil

    private func makeStore(_ url: URL) async throws {
        let clock = ManualClock()
        var configuration = StorageConfiguration()
        configuration.clock = clock
        let storage = try StorageKit.start(at: url, configuration: configuration) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
        }.facade
        for number in 0..<6 {
            clock.advance(seconds: 1.5)
            try await storage.write(
                actor: number < 3 ? "anna" : nil, app: "golden", reason: "round \(number)", correlation: "c\(number)",
                idempotencyKey: "k\(number)", attributes: ["b": "2", "a": "1"]
            ) { tx in
                try tx.save(Note(id: number, text: "the text of note number \(number)"))
                try tx.save(Note(id: 0, text: "the text of note number zero, version \(number)"))
                try tx.save(Person(id: "é", name: "", age: number == 2 ? nil : .max, score: number == 3 ? -0.0 : 1e300))
            }
        }
        try await storage.delete(Note.self, id: 1)
        try await storage.seal()
        try await storage.save(Note(id: 1, text: "back"))
        try await storage.tag("first", at: .commit(2), note: "the first round", actor: "anna", reason: "for reference")
        try await storage.tag("gone", at: .position(0))
        try await storage.tag("first", at: .commit(3), moving: true)
        try await storage.removeTag("gone")
        try await storage.note("the note was deleted here", at: .commit(8))
        try await storage.engine.record(
            StorageOperation("rebuild", subject: "notes", outcome: #"{"rows":{"notes":6}}"#),
            metadata: CommitMetadata(actor: "anna", app: "golden", reason: "a drill"))
        try await storage.close()
    }

    /// Everything that the log says, as text.
    private func describe(_ url: URL) async throws -> String {
        var configuration = StorageConfiguration()
        configuration.isReadOnly = true
        let storage = try StorageKit.start(at: url, configuration: configuration).facade
        var query = LogQuery()
        query.includesSchema = true
        var lines: [String] = []
        for event in try await storage.allEvents(query) {
            let metadata = event.commit.metadata
            func text(_ fields: [StorageEvent.Field]?) -> String {
                fields.map { "{" + $0.map { "\($0.column): \($0.value)" }.joined(separator: ", ") + "}" } ?? "-"
            }
            lines.append(
                "@\(event.position) t:\(event.commit.number) \(event.commit.time) \(metadata.actor ?? "-") \(metadata.app ?? "-") "
                    + "\(metadata.reason ?? "-") \(metadata.correlation ?? "-") \(metadata.idempotencyKey ?? "-") "
                    + "\(metadata.attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }) "
                    + "\(event.operation) \(event.table) \(text(event.key)) \(text(event.old)) \(text(event.new)) <\(event.previous)"
            )
        }
        let report = try await storage.verify()
        lines.append(report.isSound ? "sound" : "\(report.findings)")
        try await storage.close()
        return lines.joined(separator: "\n") + "\n"
    }

    @Test func versionFourIsReadAsItWasWritten() async throws {
        let golden = Self.folder.appendingPathComponent("format-4.store")
        let text = Self.folder.appendingPathComponent("format-4.txt")
        let folder = try TemporaryFolder()
        if Self.isRecording {
            let made = URL(fileURLWithPath: folder.file("made.sqlite"))
            try await makeStore(made)
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            try Data(contentsOf: made).write(to: golden)
            try Data(try await describe(made).utf8).write(to: text)
        }
        // A copy, because reading leaves files beside the store.
        let copy = URL(fileURLWithPath: folder.file("copy.sqlite"))
        try Data(contentsOf: golden).write(to: copy)
        #expect(try await describe(copy) == String(decoding: try Data(contentsOf: text), as: UTF8.self))
        // This build writes the same history.
        let again = URL(fileURLWithPath: folder.file("again.sqlite"))
        try await makeStore(again)
        #expect(try await describe(again) == String(decoding: try Data(contentsOf: text), as: UTF8.self))
    }
}
