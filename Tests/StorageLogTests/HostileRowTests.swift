import CSQLite
import StorageCore
import Testing

@testable import StorageLog

/// P9 and P10: what a row of the log says of itself is believed only as far as a row can reach, and no memory is taken for more.
struct HostileRowTests {
    /// What is said against a row; nil where it is read.
    ///
    /// - Parameter isNewer: Whether it is sound, but for what only a newer version knows.
    private func refusal(_ row: CraftedRow, size: Int? = nil, isNewer: Bool = false) throws -> String? {
        let (body, length) = try row.packed()
        do {
            _ = try body.withUnsafeBytes { try SegmentDecoder().decode(body: $0, size: size ?? length) }
        } catch let error as StorageError {
            #expect(error.code == (isNewer ? .unsupportedFormat : .corrupt))
            return error.message
        }
        // The same is checked where values aren't read.
        let header = row.header.with(size: length)
        let outline = try body.withUnsafeBytes { try OutlineDecoder().outline(of: $0, header) }
        #expect(outline.header == header)
        return nil
    }

    @Test("A segment is read as it was made")
    func soundRow() throws {
        #expect(try refusal(CraftedRow()) == nil)
    }

    /// Bits of a head that have no meaning are room for later versions, and not to be read over.
    @Test("Unknown bits of a head are refused")
    func unknownBitsOfHeads() throws {
        var parts = CraftedRow()
        for (kind, bytes) in [(2, 1), (7, 0)] {
            for rest in [0, 1] {
                let heads = [UInt8(rest << 3 | kind)] + [UInt8](repeating: 0, count: bytes == 0 ? 8 : 0)
                let identifier = CraftedRow.bytes([1, Int(StreamIdentifier.key(entity: 40, part: 0))])
                parts.streams = identifier + [UInt8(heads.count), UInt8(8 * bytes)] + heads
                parts.streams += [UInt8](repeating: 0, count: 8 * bytes)
                #expect(try (refusal(parts) == nil) == (rest == 0), "kind \(kind), rest \(rest)")
            }
        }
    }

    @Test("Parts of a newer version are skipped or refused")
    func newerExtensions() throws {
        var parts = CraftedRow()
        parts.extensions = [4, 2, 9, 9, 6, 0]
        #expect(try refusal(parts) == nil)
        parts.commits = [1, 0, 1, 0, 128, 5, 2, 1, 4, 8, 0]
        #expect(try refusal(parts) == nil)
        for wrong in [[4, 2, 9], [4, 0, 4, 0], [0, 0], [6, 0, 4, 0], [4]] as [[UInt8]] {
            parts.extensions = wrong
            #expect(try refusal(parts)?.contains("don't add up") == true, "\(wrong)")
        }
        parts.extensions = []
        // No part, a clock that takes more or less than it says, one out of all bounds, and a field's bits beside "the same".
        for wrong in [[128, 0], [128, 3, 2, 1, 4, 0], [128, 4, 2, 2, 4, 0], [128, 1, 2], [65], [193]] as [[UInt8]] {
            parts.commits = [1, 0, 1, 0] + wrong
            #expect(try refusal(parts)?.contains("don't add up") == true, "\(wrong)")
        }
        parts.commits = [1, 0, 1, 0, 128, 2, 5, 0]
        #expect(try refusal(parts, isNewer: true)?.contains("part 5") == true)
        parts.commits = [1, 0, 1, 0, 0]
        parts.extensions = [4, 0, 7, 0]
        #expect(try refusal(parts, isNewer: true)?.contains("part 7") == true)
    }

    @Test(
        "Numbers out of all bounds are refused",
        arguments: [
            \SegmentHeader.first, \.last, \.firstCommit, \.lastCommit, \.firstTime, \.lastTime,
        ])
    func numbersOutOfBounds(_ number: any WritableKeyPath<SegmentHeader, Int64> & Sendable) {
        let header = SegmentHeader(
            first: 9, last: 10, firstCommit: 3, lastCommit: 4, firstTime: 5, lastTime: 6, entities: [40])
        #expect(throws: Never.self) { try header.checked() }
        for value in [Int64.max, Int64.max - 1, 1 << 62, .min, .min + 1] {
            var spoilt = header
            spoilt[keyPath: number] = value
            #expect(throws: StorageError.self, "\(value)") { try spoilt.checked() }
        }
    }

    @Test("Headers must be consistent")
    func inconsistentHeaders() {
        func check(_ change: (inout SegmentHeader) -> Void) -> Bool {
            var header = SegmentHeader(
                first: 9, last: 10, firstCommit: 3, lastCommit: 4, firstTime: 5, lastTime: 6, entities: [40])
            change(&header)
            return (try? header.checked()) != nil
        }
        #expect(check { $0.last = 9 + 1_023 })
        #expect(!check { $0.last = 9 + 1_024 })
        #expect(!check { $0.last = 8 })
        #expect(!check { $0.first = 0 })
        #expect(!check { $0.lastCommit = 5 }, "a commit without an event")
        #expect(!check { $0.lastCommit = 2 })
        #expect(!check { $0.lastTime = 4 })
        #expect(!check { $0.entities = [40, 41, 42] }, "an entity without an event")
    }

    @Test("Commits without events are refused")
    func commitsWithoutEvents() throws {
        var parts = CraftedRow()
        // Three bytes each, of which zstd makes nothing: 20 million of them were a file of 135 KB.
        parts.commits = CraftedRow.bytes([5_000, 0, 1, 0, 0]) + [UInt8](repeating: 0, count: 3 * 4_999)
        #expect(try refusal(parts)?.contains("commits") == true)
        parts.setEvents(2)
        parts.header.lastCommit = 2
        parts.commits = CraftedRow.bytes([2, 0, 2, 0, 0, 0, 0, 0])
        #expect(try refusal(parts)?.contains("commits") == true)
    }

    @Test("Unknown fields of a commit are refused", arguments: [64 | 1, 128, 128 | 1, 255])
    func unknownCommitFields(_ fields: Int) throws {
        var parts = CraftedRow()
        parts.commits = CraftedRow.bytes([1, 0, 1, 0]) + [UInt8(fields)] + CraftedRow.bytes([1, 65])
        #expect(try refusal(parts)?.contains("commits") == true)
    }

    @Test("Bytes behind the commits are refused")
    func bytesBehindCommits() throws {
        var parts = CraftedRow()
        parts.commits += [0]
        #expect(try refusal(parts)?.contains("commits") == true)
    }

    @Test("Attributes beyond the limit are refused")
    func oversizedAttributes() throws {
        var parts = CraftedRow()
        parts.commits = CraftedRow.bytes([1, 0, 1, 0, 32, 60_000]) + [UInt8](repeating: 0, count: 120_000)
        #expect(try refusal(parts)?.contains("commits") == true)
    }

    /// Every row of a run gets room for all columns that the run names.
    @Test("More columns than a table can have are refused")
    func tooManyColumns() throws {
        var parts = CraftedRow()
        parts.shapes =
            CraftedRow.bytes([1, 40, STORAGE_DELETE, 1, 200_000, Int(zigzag(41))])
            + [UInt8](repeating: 2, count: 199_999)
        #expect(try refusal(parts)?.contains("sections") == true)
        // The same by many shapes, each of which is within the limit.
        parts.setEvents(4)
        var (shapes, column) = (CraftedRow.bytes([4]), 40)
        var streams = CraftedRow.bytes([1 + 4 * 1_500, Int(StreamIdentifier.key(entity: 40, part: 0)), 0, 0])
        for _ in 0..<4 {
            shapes += CraftedRow.bytes([40, STORAGE_DELETE, 1, 1_500])
            var previous: Int64 = 0
            for _ in 0..<1_500 {
                column += 1
                shapes += CraftedRow.bytes([Int(zigzag(Int64(column) - previous))])
                previous = Int64(column)
                streams += CraftedRow.bytes([Int(StreamIdentifier.column(UInt32(column))), 0, 0])
            }
        }
        (parts.shapes, parts.streams) = (shapes, streams)
        #expect(try refusal(parts)?.contains("names more columns") == true)
    }

    @Test("Unused shapes and streams are refused")
    func unusedShapesAndStreams() throws {
        var parts = CraftedRow()
        parts.shapes =
            CraftedRow.bytes([2]) + CraftedRow.bytes([40, STORAGE_INSERT, 1, 0])
            + CraftedRow.bytes([40, STORAGE_DELETE, 1, 0])
        #expect(try refusal(parts)?.contains("sections") == true)
        parts = CraftedRow()
        parts.streams = CraftedRow.bytes([2] + parts.streams.dropFirst().map(Int.init) + [999, 0, 0])
        #expect(try refusal(parts)?.contains("sections") == true)
    }

    @Test("A body of another length than declared is refused")
    func wrongBodyLength() throws {
        let length = CraftedRow().body.count
        for size in [length + 1, length - 1, Limits.segmentBytes] {
            #expect(try refusal(CraftedRow(), size: size)?.contains("isn't as long") == true)
        }
        #expect(try refusal(CraftedRow(), size: Limits.segmentBytes + 1) != nil)
    }
}
