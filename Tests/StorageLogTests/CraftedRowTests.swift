import CSQLite
import Foundation
import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageLog
@testable import StorageMaintenance

/// P9 and P10: what `Format.md` has a reader refuse is refused by both decoders, and what it allows is read by both.
struct CraftedRowTests {
    private struct Case {
        let name: String
        let row: CraftedRow
        let isRead: Bool
    }

    private static func read(_ name: String, _ spoil: (inout CraftedRow) -> Void = { _ in }) -> Case {
        made(name, isRead: true, spoil)
    }

    private static func refused(_ name: String, _ spoil: (inout CraftedRow) -> Void) -> Case {
        made(name, isRead: false, spoil)
    }

    private static func made(_ name: String, isRead: Bool, _ spoil: (inout CraftedRow) -> Void) -> Case {
        var row = CraftedRow()
        spoil(&row)
        return Case(name: name, row: row, isRead: isRead)
    }

    private static func bytes(_ numbers: Int...) -> [UInt8] { CraftedRow.bytes(numbers) }

    private static let long = [UInt8](repeating: 0x80, count: 9)

    private static var numbers: [Case] {
        [
            read("a row as it is made"),
            read("a varint in more bytes than it needs") { $0.links = long + [0] },
            refused("a varint of 65 bits") { $0.links = long + [2] },
            refused("a varint of eleven bytes") { $0.links = long + [0x80, 0] },
            refused("a link to before the log") { $0.links = [1] },
            refused("an entity of a column's id") {
                $0.header.entities = [15]
                $0.shapes = bytes(1, 15, STORAGE_INSERT, 1, 0)
                $0.streams = bytes(1, Int(StreamIdentifier.key(entity: 15, part: 0)), 1, 0, 2 << 3 | 1)
            },
            read("a tag") {
                $0.header.entities = [14]
                $0.shapes = bytes(1, 14, STORAGE_INSERT, 1, 0)
                $0.streams = bytes(1, Int(StreamIdentifier.key(entity: 14, part: 0)), 1, 0, 2 << 3 | 1)
            },
            refused("an entity beyond all ids") { $0.shapes = bytes(1, 1 << 32 + 40, STORAGE_INSERT, 1, 0) },
            refused("a column of an entity's id") {
                $0.shapes = bytes(1, 40, STORAGE_INSERT, 1, 1, Int(zigzag(18)))
                $0.streams = bytes(2, Int(CraftedRow.key), 1, 0, 2 << 3 | 1, 36, 1, 0, 0)
            },
            refused("an operation of a later version") { $0.shapes = bytes(1, 40, 4, 1, 0) },
            read("a key of as many parts as there can be") { $0.setKey(parts: 255) },
            refused("a key of one part more") { $0.setKey(parts: 256) },
            refused("a column that stands twice") {
                $0.shapes = bytes(1, 40, STORAGE_INSERT, 1, 2, Int(zigzag(41)), 0)
                $0.streams = bytes(2, Int(CraftedRow.key), 1, 0, 2 << 3 | 1, 82, 2, 0, 0, 0)
            },
            refused("other entities than those of the events") { $0.header.entities = [41] },
            refused("a stream of nothing") {
                $0.setEvents(2)
                ($0.indexes, $0.links) = ([0, 1], [0, 1])
                $0.shapes = bytes(2, 40, STORAGE_INSERT, 1, 0, 40, STORAGE_DELETE, 1, 0)
                $0.streams = bytes(2, Int(CraftedRow.key), 1, 0, 2 << 3 | 1, 999, 0, 0)
            },
            refused("a stream that is there twice") {
                $0.setEvents(2)
                ($0.indexes, $0.links) = ([0, 1], [0, 1])
                $0.shapes = bytes(2, 40, STORAGE_INSERT, 1, 0, 40, STORAGE_DELETE, 1, 0)
                $0.streams = bytes(2, Int(CraftedRow.key), 0, 0, Int(CraftedRow.key), 1, 0, 2 << 3 | 1)
            },
            refused("a frame without a checksum") { $0.frame = .withoutChecksum },
            refused("a second frame") { $0.frame = .withAnotherBehind },
        ]
    }

    private static var commits: [Case] {
        [
            read("a text of metadata at its limit") {
                $0.setMetadata(fields: 1, [[UInt8](repeating: 0x61, count: 65_536)])
            },
            refused("a text of metadata beyond it") {
                $0.setMetadata(fields: 1, [[UInt8](repeating: 0x61, count: 65_537)])
            },
            refused("a text of metadata that isn't UTF-8") { $0.setMetadata(fields: 4, [[0xFF]]) },
            refused("a name of an attribute that isn't UTF-8") {
                $0.setMetadata(fields: 32, [[0xC0, 0x80], []], count: 1)
            },
            read("attributes in order") { $0.setMetadata(fields: 32, [[0x61], [], [0x62], [0x31]], count: 2) },
            refused("attributes in another order") { $0.setMetadata(fields: 32, [[0x62], [], [0x61], []], count: 2) },
            refused("an attribute that is there twice") {
                $0.setMetadata(fields: 32, [[0x61], [], [0x61], []], count: 2)
            },
            refused("one name in two spellings") {
                $0.setMetadata(fields: 32, [Array("e\u{301}".utf8), [], Array("\u{E9}".utf8), []], count: 2)
            },
            refused("the metadata of the commit before the first") { $0.commits = bytes(1, 0, 1, 0, 64) },
            refused("a time after that of the run") { $0.commits = bytes(1, 0, 1, 1, 0) },
            refused("a time before that of the run's end") { $0.header.lastTime = 6 },
            refused("a commit less than the head says") {
                $0.setEvents(2)
                ($0.links, $0.header.lastCommit) = ([0, 1], 2)
            },
            read("a clock's reading at its limit") { $0.setClock(Limits.times.upperBound) },
            refused("a clock's reading beyond it") { $0.setClock(Limits.times.upperBound + 1) },
        ]
    }

    private static var values: [Case] {
        [
            read("a whole real at its limit") {
                $0.setColumn(STORAGE_INSERT, heads: bytes(Int(zigzag(1 << 53 - 1)) << 3 | 5))
            },
            refused("a whole real beyond it") {
                $0.setColumn(STORAGE_INSERT, heads: bytes(Int(zigzag(1 << 53)) << 3 | 5))
            },
            read("the least whole real") {
                $0.setColumn(STORAGE_INSERT, heads: bytes(Int(zigzag(1 - 1 << 53)) << 3 | 5))
            },
            refused("a whole real below it") {
                $0.setColumn(STORAGE_INSERT, heads: bytes(Int(zigzag(-(1 << 53))) << 3 | 5))
            },
            refused("a text beyond its limit") {
                let size = Limits.valueBytes + 1
                $0.setColumn(
                    STORAGE_INSERT, heads: bytes(size << 3 | 3), contents: [UInt8](repeating: 0, count: size))
            },
            refused("an edit beyond the limit of a text") {
                let size = Limits.valueBytes / 2 + 1
                $0.setColumn(
                    STORAGE_UPDATE, heads: bytes(size << 3 | 3, size << 3 | 6, 0, size - 1),
                    contents: [UInt8](repeating: 0, count: 2 * size - 1))
            },
            read("an edit") {
                $0.setColumn(
                    STORAGE_UPDATE, heads: bytes(9 << 3 | 3, 4 << 3 | 6, 4, 2), contents: Array("abcdefghiXY".utf8))
            },
            refused("an edit that shares more than there is") {
                $0.setColumn(
                    STORAGE_UPDATE, heads: bytes(9 << 3 | 3, 5 << 3 | 6, 5, 2), contents: Array("abcdefghiXY".utf8))
            },
            refused("an edit of a number") { $0.setColumn(STORAGE_UPDATE, heads: bytes(2 << 3 | 1, 6, 0, 0)) },
            refused("a known value as a new one") { $0.setColumn(STORAGE_INSERT, heads: bytes(8)) },
            refused("a value that was erased") { $0.setColumn(STORAGE_INSERT, heads: bytes(16)) },
            read("a deleted row's value, which is still known") {
                $0.setEvents(3)
                ($0.indexes, $0.links) = ([0, 1, 1], [0, 1, 1])
                $0.shapes = bytes(
                    2, 40, STORAGE_INSERT, 1, 1, Int(zigzag(41)), 40, STORAGE_DELETE, 1, 1, Int(zigzag(41)))
                $0.streams = bytes(2, Int(CraftedRow.key), 1, 0, 2 << 3 | 1, 82, 3, 0, 2 << 3 | 1, 8, 8)
            },
            refused("bytes behind the values") { $0.setColumn(STORAGE_INSERT, heads: bytes(0, 0)) },
        ]
    }

    @Test("Both decoders refuse the same")
    func decodersRefuseTheSame() throws {
        let folder = try TemporaryFolder()
        let cases = Self.numbers + Self.commits + Self.values
        var paths: [String] = []
        for (number, made) in cases.enumerated() {
            let (body, size) = try made.row.packed()
            let header = made.row.header.with(size: size)
            do {
                _ = try body.withUnsafeBytes { try SegmentDecoder().decode(body: $0, of: header) }
                #expect(made.isRead, "\(made.name) was read")
            } catch let error as StorageError {
                #expect(!made.isRead, "\(made.name): \(error)")
                #expect(error.code == .corrupt, "\(made.name): \(error)")
            }
            paths.append(folder.path("\(number).sqlite"))
            try store(body, header, at: paths[number])
        }
        for (made, refusal) in zip(cases, try SecondDecoder.refusals(paths)) {
            #expect((refusal == nil) == made.isRead, "\(made.name): \(refusal ?? "was read")")
        }
    }

    /// As much of a store as the second decoder looks at.
    private func store(_ body: [UInt8], _ header: SegmentHeader, at path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE storage_meta AS SELECT 4 AS format, 0 AS incompatible, 1 AS first_position;
                    CREATE TABLE storage_lineage AS SELECT 1 AS number, zeroblob(16) AS id, 0 AS fork;
                    CREATE TABLE storage_log(
                      position, last, first_commit, last_commit, first_time, last_time, entities, format, sealed, size, base,
                      digest, body);
                    PRAGMA application_id = \(StoreSchema.applicationId);
                    """)
            try db.execute(
                sql: "INSERT INTO storage_log VALUES (?, ?, ?, ?, ?, ?, ?, 4, 0, ?, 0, NULL, ?)",
                arguments: [
                    header.first, header.last, header.firstCommit, header.lastCommit, header.firstTime, header.lastTime,
                    Data(header.entityBytes), header.size, Data(body),
                ])
        }
        try queue.close()
    }

    /// A value that is named again and again takes no bytes, and counts each time.
    @Test("A commit can't exceed its limit", arguments: [(7, true), (8, false)])
    func commitSizeLimit(deletes: Int, isRead: Bool) throws {
        let size = Limits.valueBytes
        var row = CraftedRow()
        row.setEvents(1 + deletes)
        row.indexes = [0] + [UInt8](repeating: 1, count: deletes)
        row.links = [0] + [UInt8](repeating: 1, count: deletes)
        let column = Int(zigzag(41))
        row.shapes = CraftedRow.bytes([2, 40, STORAGE_INSERT, 1, 1, column, 40, STORAGE_DELETE, 1, 1, column])
        let heads = CraftedRow.bytes([size << 3 | 4] + [Int](repeating: 8, count: deletes))
        row.streams = CraftedRow.bytes([2, Int(CraftedRow.key), 1, 0, 2 << 3 | 1, 82, heads.count, size])
        row.streams += heads + [UInt8](repeating: 0, count: size)
        let (body, length) = try row.packed()
        let batch = try? body.withUnsafeBytes { try SegmentDecoder().decode(body: $0, size: length) }
        #expect((batch != nil) == isRead)
    }

    /// What a commit holds over several rows only who reads all of them can count.
    @Test("Verification counts a commit's size over its segments")
    func commitSizeOverSegments() throws {
        var row = CraftedRow()
        let size = Limits.valueBytes
        row.setColumn(STORAGE_INSERT, heads: Self.bytes(size << 3 | 4), contents: [UInt8](repeating: 0, count: size))
        row.commits = Self.bytes(1, 3, 1, 0, 0)
        let (body, length) = try row.packed()
        let batch = try body.withUnsafeBytes { try SegmentDecoder().decode(body: $0, size: length) }
        var (walk, report) = (LogContinuityCheck(), VerifyReport())
        for number in 1...9 {
            walk.check(batch, &report)
            #expect(report.findings.contains { $0.message.contains("larger than a commit") } == (number > 8))
        }
    }

    @Test("Reserved ids are those of the store's entities")
    func reservedIds() {
        let entities = CatalogEntity.reserved.map(\.id)
        let columns = CatalogEntity.reserved.flatMap { $0.columns.map(\.id) }
        for id in 0..<UInt32(34) {
            #expect(StreamIdentifier.isEntity(UInt64(id)) == (entities.contains(id) || id >= 32), "\(id)")
            #expect(StreamIdentifier.isColumn(UInt64(id)) == (columns.contains(id) || id >= 32), "\(id)")
        }
    }
}

extension CraftedRow {
    fileprivate mutating func setKey(parts: Int) {
        shapes = Self.bytes([1, 40, STORAGE_INSERT, parts, 0])
        streams = Self.bytes([parts])
        for part in 0..<parts {
            streams += Self.bytes([Int(StreamIdentifier.key(entity: 40, part: UInt32(part))), 1, 0, 2 << 3 | 1])
        }
    }

    /// A part of the commit's header that says what the clock read.
    fileprivate mutating func setClock(_ reading: Int64) {
        let content = Self.bytes([Int(zigzag(reading - header.firstTime))])
        let part = [2, UInt8(content.count)] + content
        commits = Self.bytes([1, 0, 1, 0]) + [128, UInt8(part.count)] + part
    }
}
