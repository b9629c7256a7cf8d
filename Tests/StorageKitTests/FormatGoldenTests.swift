import EntityTestSupport
import Foundation
import StorageEntities
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

@testable import StorageLog

/// A store that an earlier build wrote is read as it was meant: one file for each version of the format.
///
/// `RECORD_GOLDEN=1` writes the files anew, which only a new version of the format may need.
struct FormatGoldenTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Golden")
    private static let isRecording = ProcessInfo.processInfo.environment["RECORD_GOLDEN"] != nil

    private func makeStore(_ url: URL) async throws {
        let clock = ManualClock()
        var configuration = StorageConfig()
        configuration.clock = clock
        let storage = try StorageKit.start(at: url, config: configuration) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
        }.facade
        for number in 0..<6 {
            clock.advance(by: .seconds(1.5))
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
        let configuration = StorageConfig(isReadOnly: true)
        let storage = try StorageKit.start(at: url, config: configuration).facade
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

    /// What the first store hasn't: values of every kind, windows that are compressed against another, a clock that goes back, and the
    /// lineage of a copy.
    private func makeSealedStore(_ url: URL) async throws {
        let clock = ManualClock()
        var configuration = StorageConfig()
        (configuration.clock, configuration.segmentLength) = (clock, 16)
        configuration.sealsInBackground = false
        let origin = URL(fileURLWithPath: url.path + ".origin")
        var storage = try Self.openSamples(origin, configuration)
        for round in 0..<5 {
            clock.advance(by: .seconds(round == 3 ? -7_200 : 61.000_001))
            try await storage.write(actor: "anna", attributes: ["é": "1", "z": "2", "e\u{301}x": "3"]) { tx in
                for number in 0..<14 { try tx.save(Sample.made(number, round: round)) }
            }
            if round == 2 { try await storage.delete(Sample.self, id: Sample.made(2, round: 0).id) }
        }
        try await storage.seal()
        try await storage.backup(to: url)
        try await storage.close()
        storage = try Self.openSamples(url, configuration)
        // Behind the fork, and by rows that change, go and come again within a window.
        for round in 5..<14 {
            clock.advance(by: .seconds(1_000))
            try await storage.write(actor: "ben") { tx in
                for number in 0..<5 { try tx.save(Sample.made(number, round: round)) }
            }
            try await storage.delete(Sample.self, id: Sample.made(round % 3, round: 0).id)
        }
        try await storage.seal()
        try await storage.close()
    }

    private static func openSamples(_ url: URL, _ configuration: StorageConfig) throws -> Storage {
        try StorageKit.start(at: url, config: configuration) { $0.autoSchema(SampleRecord.self) }.facade
    }

    @StorageEntity struct Sample {
        var id: UUID
        var at: Date
        var title: String
        var data: Data
        var count: Int
        var ratio: Double
        var note: String?

        static func made(_ number: Int, round: Int) -> Sample {
            var title = "Sample \(number): "
            title += String(repeating: "tide, wind \(number * 7_919 % 1_000) and \u{1F30A} ", count: 9)
            if round % 2 == 1 { title += "\(round)" }
            return Sample(
                id: UUID(uuidString: "00000000-0000-4000-8000-0000000000\(10 + number)") ?? UUID(),
                at: Date(timeIntervalSince1970: Double(number) * 1e8 + Double(round) / 3), title: title,
                data: Data((0..<number * 3).map { UInt8(truncatingIfNeeded: $0 * 83 + number) }),
                count: [0, 1, -1, .max, .min, 1 << 60, -(1 << 61)][(number + round) % 7],
                ratio: [0, -0.0, 0.1, -1e300, 9_007_199_254_740_991, .leastNormalMagnitude][(number + round) % 6],
                note: (number + round) % 3 == 0 ? nil : String(repeating: "n", count: round))
        }
    }

    @Test("Format 4 is read as it was written", arguments: ["format-4", "format-4-sealed", "format-4-shapes"])
    func formatFourGoldenFiles(name: String) async throws {
        let golden = Self.folder.appendingPathComponent("\(name).store")
        let text = Self.folder.appendingPathComponent("\(name).txt")
        func make(_ url: URL) async throws {
            switch name {
            case "format-4": try await makeStore(url)
            case "format-4-sealed": try await makeSealedStore(url)
            default: try await GoldenShapes.make(url)
            }
        }
        let folder = try TemporaryFolder()
        if Self.isRecording {
            let made = URL(fileURLWithPath: folder.path("made.sqlite"))
            try await make(made)
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            try Data(contentsOf: made).write(to: golden)
            try Data(try await describe(made).utf8).write(to: text)
        }
        // A copy, because reading leaves files beside the store.
        let copy = URL(fileURLWithPath: folder.path("copy.sqlite"))
        try Data(contentsOf: golden).write(to: copy)
        #expect(try await describe(copy) == String(decoding: try Data(contentsOf: text), as: UTF8.self))
        // This build writes the same history.
        let again = URL(fileURLWithPath: folder.path("again.sqlite"))
        try await make(again)
        #expect(try await describe(again) == String(decoding: try Data(contentsOf: text), as: UTF8.self))
    }

    @Test("The sealed golden store covers each kind of segment")
    func sealedGoldenStore() async throws {
        let file = Self.folder.appendingPathComponent("format-4-sealed.store").path
        let counts = try DatabaseFile(file, .unchanging).with { database in
            let select = try PreparedStatement(
                database,
                """
                SELECT count(*) FILTER (WHERE base <> 0), count(*) FILTER (WHERE base = 0 AND sealed = 1),
                       count(*) FILTER (WHERE sealed = 0), (SELECT count(*) FROM storage_lineage) FROM storage_log
                """)
            return try select.step() ? (0..<4).map { select.integer($0) } : []
        }
        try #require(counts.count == 4)
        #expect(counts[0] > 1, "\(counts)")
        #expect(counts[1] > 0, "\(counts)")
        #expect(counts[2] > 0, "\(counts)")
        #expect(counts[3] == 2, "\(counts)")
    }

    @Test("The golden store of shapes covers each extension")
    func shapesGoldenStore() async throws {
        let file = Self.folder.appendingPathComponent("format-4-shapes.store").path
        try DatabaseFile(file, .unchanging).with { database in
            var (sealed, open, commits) = (0, 0, 0)
            try LogReader(database).forEachBatch(in: 1 ... .max) { batch in
                if batch.extensions == GoldenShapes.parts { sealed += 1 } else { open += 1 }
                commits += batch.slices.count { $0.info.extensions == GoldenShapes.parts }
                return true
            }
            #expect(sealed == 3, "\(sealed) \(open) \(commits)")
            #expect(open > 3, "\(sealed) \(open) \(commits)")
            #expect(commits == 3, "\(sealed) \(open) \(commits)")
            let between = try PreparedStatement(
                database,
                "SELECT count(*) FROM storage_log WHERE sealed = 0 AND position < (SELECT max(position) FROM storage_log WHERE sealed)"
            )
            #expect(try between.step())
            #expect(between.integer(0) == 1)
            let places = try Catalog.load(database).entity(named: "places")
            #expect(places?.columns.map(\.keyOrdinal) == [2, 0, 3, 1, 0])
        }
    }
}
