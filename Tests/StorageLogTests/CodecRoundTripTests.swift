import CSQLite
import CZstd
import Foundation
import SchemaTestSupport
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// What is encoded is decoded to the bit, and damaged bytes are an error rather than a crash or another history.
@Suite struct CodecRoundTripTests {
    /// The parts of commits in a range of events, as the writer cuts them.
    private func slices(_ events: [LoggedEvent], _ range: Range<Int>) -> [CommitSlice] {
        var slices: [CommitSlice] = []
        for event in events[range] {
            if slices.last?.info.number == event.commit.number {
                slices[slices.count - 1].eventCount += 1
            } else {
                slices.append(CommitSlice(info: event.commit, eventCount: 1))
            }
        }
        slices[0].continuesEarlier =
            range.lowerBound > 0 && events[range.lowerBound - 1].commit == events[range.lowerBound].commit
        slices[slices.count - 1].continuesLater =
            range.upperBound < events.count && events[range.upperBound - 1].commit == events[range.upperBound].commit
        return slices
    }

    private func encode(
        _ events: [LoggedEvent], _ range: Range<Int>, level: Int32 = 1, sealing: SealingContext? = nil,
        with encoder: SegmentEncoder = SegmentEncoder()
    ) throws -> EncodedSegment {
        try RawEvents(events).withView {
            try encoder.encode(
                $0, range: range, first: events[range.lowerBound].position, commits: slices(events, range),
                level: level, sealing: sealing)
        }
    }

    private func decode(_ body: [UInt8], size: Int) throws -> EventBatch {
        try body.withUnsafeBytes { try SegmentDecoder().decode(body: $0, size: size) }
    }

    @Test("Events round-trip bit for bit", arguments: TestSettings.seeds(150, from: 1))
    func eventsRoundTrip(seed: UInt64) throws {
        var generator = EventGenerator(seed: seed)
        let events = generator.events(
            generator.random.pick([1, 2, 5, 40, 200]),
            first: generator.random.pick([1, 2, 1_000, Limits.numbers.upperBound - 500]))
        let start = generator.random.below(events.count)
        for range in [0..<events.count, start..<events.count] {
            let row = try encode(events, range, level: generator.random.pick([1, 9]))
            let batch = try decode(row.body, size: row.header.size)
            #expect(batch.header == row.header)
            #expect(batch.logged == Array(events[range]), "seed \(seed)")
            #expect(batch.beginsInsideCommit == slices(events, range).first?.continuesEarlier)
            #expect(batch.endsInsideCommit == slices(events, range).last?.continuesLater)
            // Looking for one event passes those before it too.
            let count = 1 + generator.random.below(range.count)
            let part = try row.body.withUnsafeBytes {
                try SegmentDecoder().decode(body: $0, of: row.header, through: row.header.first + Int64(count) - 1)
            }
            #expect(part.filled == count)
            #expect(part.header == row.header)
            #expect(part.logged == Array(events[range].prefix(count)), "seed \(seed), \(count) events")
        }
    }

    @Test("Short bodies of the tail are stored, and others compressed")
    func storedTail() throws {
        var generator = EventGenerator(seed: 12)
        let events = generator.events(400, first: 1)
        let sizes = try (1...400).map { count in
            let row = try encode(events, 0..<count)
            return (whole: row.header.size, stored: row.body.count)
        }
        let (short, long) = (sizes.filter { $0.whole <= 512 }, sizes.filter { $0.whole > 4_096 })
        try #require(!short.isEmpty && !long.isEmpty)
        #expect(short.allSatisfy { ($0.whole + 8...$0.whole + 20).contains($0.stored) }, "\(short)")
        #expect(long.allSatisfy { $0.stored < $0.whole * 9 / 10 })
    }

    @Test("Rows that repeat others round-trip bit for bit", arguments: TestSettings.seeds(100, from: 9_000))
    func sharedBaseRoundTrips(seed: UInt64)
        throws
    {
        var generator = EventGenerator(seed: seed)
        let events = generator.events(120, first: 1)
        let encoder = SegmentEncoder(copiesBody: generator.random.chance(50))
        var base: SegmentBase?
        var start = 0
        while start < events.count {
            let end = min(events.count, start + 1 + generator.random.below(20))
            let context = SealingContext(
                chain: DigestChain(store: [7]), base: base, mustGain: generator.random.chance(50))
            let row = try encode(events, start..<end, level: 5, sealing: context, with: encoder)
            let batch = try row.body.withUnsafeBytes {
                try SegmentDecoder().decode(body: $0, of: row.header, base: row.base == 0 ? nil : base)
            }
            #expect(batch.logged == Array(events[start..<end]), "seed \(seed)")
            base = SegmentBase(position: Int64(start + 1), bytes: batch.withBody { Array($0) })
            start = end
        }
    }

    @Test("Merged segments hold the same events", arguments: TestSettings.seeds(60, from: 1_000))
    func mergedSegmentsAreEqual(seed: UInt64) throws {
        var generator = EventGenerator(seed: seed)
        let events = generator.events(60, first: 513)
        var batches: [EventBatch] = []
        var start = 0
        while start < events.count {
            let end = min(events.count, start + 1 + generator.random.below(20))
            let row = try encode(events, start..<end)
            batches.append(try decode(row.body, size: row.header.size))
            start = end
        }
        let merged = EventBatch(merging: batches)
        let row = try merged.withView {
            try SegmentEncoder().encode($0, range: 0..<events.count, first: 513, commits: merged.slices, level: 9)
        }
        #expect(try decode(row.body, size: row.header.size).logged == events, "seed \(seed)")
        #expect(merged.slices.first?.continuesEarlier == false)
        #expect(merged.slices.last?.continuesLater == false)
    }

    /// Sealing changes where events are kept, and nothing else.
    @Test("Sealed segments hold what the tail held", arguments: TestSettings.segmentLengths)
    func sealedSegmentsAreEqual(length: Int) async throws {
        var configuration = TestStore.configuration(segmentLength: length)
        configuration.sealsInBackground = false
        let engine = try StorageEngine.openInMemory(configuration: configuration)
        try await engine.adopt(
            "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w, _position INTEGER NOT NULL DEFAULT 0)")
        for number in 0..<12 {
            let metadata = CommitMetadata(
                actor: "actor \(number / 3)", attributes: number % 4 == 0 ? ["n": "\(number)"] : [:])
            // Commits of 1 to 400 events, so that some end inside a window and some reach over several.
            let count = [1, 3, 7, 400][number % 4]
            try await engine.commit(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO t(id, v, w) SELECT i, 'a text of row ' || i || ' in commit \(number)', i * 0.5 FROM n WHERE true
                ON CONFLICT(id) DO UPDATE SET v = excluded.v
                """, metadata)
        }
        func look() async throws -> (events: [LoggedEvent], edges: [String], rows: Int64) {
            try await engine.withWriter { writer, _ in
                var events: [LoggedEvent] = []
                var faults: [String] = []
                var open = false
                try LogReader(writer.database).forEachBatch(in: 1...Int64.max) { batch in
                    let here = batch.logged
                    let continues = events.last.map { $0.commit == here[0].commit } ?? false
                    if batch.beginsInsideCommit != continues || open != continues {
                        faults.append("edge before @\(batch.header.first)")
                    }
                    open = batch.endsInsideCommit
                    events += here
                    return true
                }
                if open { faults.append("the last commit goes on") }
                let count = try PreparedStatement(writer.database, "SELECT count(*) FROM storage_log WHERE sealed = 1")
                try count.step()
                return (events, faults, count.integer(0))
            }
        }
        let before = try await look()
        try await engine.seal()
        let after = try await look()
        #expect(before.events == after.events)
        #expect(before.edges == [])
        #expect(after.edges == [])
        #expect(before.rows < after.rows)
        #expect(after.rows == engine.committed.position / Int64(length))
    }

    /// The frame's checksum keeps damaged bytes from the decoder.
    @Test("Damaged bodies are found", arguments: TestSettings.seeds(40, from: 2_000))
    func damagedBodies(seed: UInt64) throws {
        var generator = EventGenerator(seed: seed)
        let events = generator.events(30, first: 1)
        let row = try encode(events, 0..<events.count)
        for _ in 0..<40 {
            var body = row.body
            switch generator.random.below(4) {
            case 0: body.removeLast(1 + generator.random.below(body.count - 1))
            case 1: body.append(UInt8(generator.random.below(256)))
            default:
                for _ in 0...generator.random.below(3) {
                    body[generator.random.below(body.count)] ^= UInt8(1 + generator.random.below(255))
                }
            }
            do {
                #expect(try decode(body, size: row.header.size).logged == events, "seed \(seed)")
            } catch let error as StorageError {
                #expect(error.code == .corrupt)
            }
        }
        for size in [0, -1, 1, row.header.size - 1, row.header.size + 1, Limits.segmentBytes + 1, Int.max] {
            #expect(throws: StorageError.self) { try decode(row.body, size: size) }
        }
    }

    /// A checksum can be forged: the parser has to withstand any bytes.
    @Test("Any bytes are parsed or refused", arguments: TestSettings.seeds(60, from: 3_000))
    func arbitraryBytes(seed: UInt64) throws {
        var generator = EventGenerator(seed: seed)
        let events = generator.events(generator.random.pick([1, 6, 40]), first: generator.random.pick([1, 300]))
        let row = try encode(events, 0..<events.count)
        let plain = Self.decompress(row.body, size: row.header.size)
        for _ in 0..<60 {
            var bytes = plain
            for _ in 0...generator.random.below(4) { Self.damage(&bytes, &generator.random) }
            guard !bytes.isEmpty else { continue }
            do {
                // Reading every value out is the test: it may be nonsense, but it must lie inside the batch.
                _ = try decode(CraftedRow.packed(bytes), size: bytes.count).logged
            } catch let error as StorageError {
                // A tag that came about may be one that a newer version would know.
                #expect([.corrupt, .unsupportedFormat].contains(error.code), "seed \(seed)")
            }
        }
    }

    /// A few bytes that claim to be many events with many columns must not ask for all the memory there is.
    @Test("Small bodies can't claim much memory", arguments: [1, 100])
    func bodiesCannotClaimMemory(times: Int) throws {
        let columns = (0..<1_500).map { UInt32($0 + 40) }
        var event = LoggedEvent(
            position: 1, commit: CommitInfo(number: 1, time: 1, metadata: CommitMetadata()), entity: 33,
            operation: STORAGE_INSERT,
            key: [.integer(1)], columns: columns, previous: 0)
        for column in columns { event.new[column] = .null }
        let row = try encode([event], 0..<1)
        var plain = Self.decompress(row.body, size: row.header.size)
        // One event becomes 1,024 or 102,400, each of 1,500 columns, which would take up to 2.4 GB.
        let count = Limits.segmentEvents * times
        func varint(_ value: Int) -> [UInt8] {
            var buffer = ByteBuffer()
            buffer.append(varint: UInt64(value))
            return [UInt8](buffer.bytes)
        }
        let head = plain.firstRange(of: [1, 1, 1])
        #expect(head?.lowerBound == 0)
        // first, count, commit, further commits, time, duration, entities; then the commits' section: its length, one
        // commit, flags, number of events, time, fields.
        let shapesStart = 8 + 1 + 5
        #expect(Array(plain[..<shapesStart]) == [1, 1, 1, 0, 2, 0, 1, 33, 5, 1, 0, 1, 0, 0])
        var reader = ByteCursor(plain, shapesStart)
        let shapes = reader.section()
        _ = (reader.section(), reader.section())
        let rest = Array(plain[reader.next...])
        plain =
            [1] + varint(count) + [1, 0, 2, 0, 1, 33, UInt8(varint(count).count + 4), 1, 0] + varint(count) + [0, 0]
        plain += varint(shapes.count) + shapes + varint(count) + [UInt8](repeating: 0, count: count)
        plain += varint(count) + [UInt8](repeating: 0, count: count) + rest
        let error = #expect(throws: StorageError.self) { try decode(CraftedRow.packed(plain), size: plain.count) }
        // Refused for the claim itself, before memory was asked for.
        #expect(error?.message.contains(times == 1 ? "claims more values" : "the numbers of row") == true)
    }

    /// An edit whose ends overlap would reach out of the text that it edits.
    @Test("Edits stay inside of the old text")
    func editsStayInsideOldText() throws {
        let old = Array("abcdefgh12345678".utf8)
        let event = LoggedEvent(
            position: 1, commit: CommitInfo(number: 1, time: 1, metadata: CommitMetadata()), entity: 33,
            operation: STORAGE_UPDATE, key: [.integer(1)], columns: [34], old: [34: .text(old)],
            new: [34: .text(Array("abcdefgh!12345678".utf8))], previous: 0)
        let row = try encode([event], 0..<1)
        var plain = Self.decompress(row.body, size: row.header.size)
        // Eight bytes from the beginning, eight from the end, one between.
        let edit = try #require(plain.firstRange(of: [8 << 3 | 6, 8, 1]))
        plain[edit.lowerBound] = 9 << 3 | 6
        #expect(throws: StorageError.self) { try decode(CraftedRow.packed(plain), size: plain.count) }
    }

    private struct ByteCursor {
        let bytes: [UInt8]
        var next: Int

        init(_ bytes: [UInt8], _ next: Int) {
            self.bytes = bytes
            self.next = next
        }

        mutating func section() -> [UInt8] {
            var size = 0
            var shift = 0
            while bytes[next] >= 0x80 {
                size |= Int(bytes[next] & 0x7F) << shift
                shift += 7
                next += 1
            }
            size |= Int(bytes[next]) << shift
            next += 1
            defer { next += size }
            return Array(bytes[next..<next + size])
        }
    }

    private static func damage(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
        guard !bytes.isEmpty else { return }
        let place = random.below(bytes.count)
        switch random.below(7) {
        case 0: bytes[place] = UInt8(random.below(256))
        case 1: bytes[place] ^= 1 << UInt8(random.below(8))
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(UInt8(random.below(256)), at: place)
        case 4: bytes.removeLast(bytes.count - place)
        // Numbers at the end of what fits, which is where sums overflow.
        case 5:
            bytes.replaceSubrange(
                place..<place + 1, with: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01])
        default: bytes.replaceSubrange(place..<place + 1, with: [0xFF, 0xFF, 0xFF, 0xFF, 0x0F])
        }
    }

    private static func decompress(_ body: [UInt8], size: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: size) { target, count in
            count = ZSTD_decompress(target.baseAddress, size, body, body.count)
        }
    }
}
