import CSQLite
import CZstd
import StorageCore
import Testing

@testable import StorageLog

/// P9 and P10: what a row of the log says of itself is believed only as far as a row can reach, and no memory is taken for more.
struct HostileRowTests {
    /// The parts of a row with one event, to be spoilt one at a time.
    private struct Parts {
        var header = SegmentHeader(
            first: 1, last: 1, firstCommit: 1, lastCommit: 1, firstTime: 5, lastTime: 5, entities: [40])
        /// One commit without flags: number of events, time, fields.
        var commits = bytes([1, 0, 1, 0, 0])
        /// One shape: entity, insert, one part of a key, no columns.
        var shapes = bytes([1, 40, STORAGE_INSERT, 1, 0])
        var indexes = bytes([0])
        var links = bytes([0])
        var extensions: [UInt8] = []
        /// One stream: its name, the lengths of heads and bodies, then the integer 1.
        var streams = bytes([1, Int(StreamIdentifier.key(entity: 40, part: 0)), 1, 0, 2 << 3 | 1])

        static func bytes(_ numbers: [Int]) -> [UInt8] {
            var buffer = ByteBuffer()
            for number in numbers { buffer.append(varint: UInt64(number)) }
            return [UInt8](buffer.bytes)
        }

        var body: [UInt8] {
            var output = ByteBuffer()
            header.append(to: &output)
            for section in [commits, shapes, indexes, links, extensions] {
                output.append(varint: UInt64(section.count))
                section.withUnsafeBytes { output.append($0) }
            }
            streams.withUnsafeBytes { output.append($0) }
            return [UInt8](output.bytes)
        }

        /// Whether it is sound, but for what only a newer version knows.
        var needsNewerVersion = false

        mutating func setEvents(_ count: Int) {
            header.last = Int64(count)
            indexes = Array(repeating: 0, count: count)
            links = Array(repeating: 0, count: count)
            commits = Self.bytes([1, 0, count, 0, 0])
        }
    }

    /// What is said against a row; nil where it is read.
    private func refusal(_ parts: Parts, size: Int? = nil) throws -> String? {
        let plain = parts.body
        var packed = [UInt8](repeating: 0, count: ZSTD_compressBound(plain.count))
        let length = ZSTD_compress(&packed, packed.count, plain, plain.count, 1)
        try #require(ZSTD_isError(length) == 0)
        do {
            _ = try packed[..<length].withUnsafeBytes {
                try SegmentDecoder().decode(body: $0, size: size ?? plain.count)
            }
        } catch let error as StorageError {
            #expect(error.code == (parts.needsNewerVersion ? .unsupportedFormat : .corrupt))
            return error.message
        }
        // What is read without its values is held to the same.
        let header = parts.header.with(size: plain.count)
        let outline = try packed[..<length].withUnsafeBytes { try OutlineDecoder().outline(of: $0, header) }
        #expect(outline.header == header)
        return nil
    }

    @Test func aRowIsReadAsItIsMade() throws {
        #expect(try refusal(Parts()) == nil)
    }

    /// Bits of a head that have no meaning are room for later versions, and not to be read over.
    @Test func headsWithMoreThanTheirKindAreRefused() throws {
        var parts = Parts()
        for (kind, bytes) in [(2, 1), (7, 0)] {
            for rest in [0, 1] {
                let heads = [UInt8(rest << 3 | kind)] + [UInt8](repeating: 0, count: bytes == 0 ? 8 : 0)
                let identifier = Parts.bytes([1, Int(StreamIdentifier.key(entity: 40, part: 0))])
                parts.streams = identifier + [UInt8(heads.count), UInt8(8 * bytes)] + heads
                parts.streams += [UInt8](repeating: 0, count: 8 * bytes)
                #expect(try (refusal(parts) == nil) == (rest == 0), "kind \(kind), rest \(rest)")
            }
        }
    }

    @Test func partsOfANewerVersionAreReadOverOrRefused() throws {
        var parts = Parts()
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
        parts.needsNewerVersion = true
        parts.commits = [1, 0, 1, 0, 128, 2, 5, 0]
        #expect(try refusal(parts)?.contains("part 5") == true)
        parts.commits = [1, 0, 1, 0, 0]
        parts.extensions = [4, 0, 7, 0]
        #expect(try refusal(parts)?.contains("part 7") == true)
    }

    @Test(arguments: [
        \SegmentHeader.first, \.last, \.firstCommit, \.lastCommit, \.firstTime, \.lastTime,
    ]) func numbersOutOfAllBoundsAreRefused(_ number: any WritableKeyPath<SegmentHeader, Int64> & Sendable) {
        let header = SegmentHeader(
            first: 9, last: 10, firstCommit: 3, lastCommit: 4, firstTime: 5, lastTime: 6, entities: [40])
        #expect(throws: Never.self) { try header.checked() }
        for value in [Int64.max, Int64.max - 1, 1 << 62, .min, .min + 1] {
            var spoilt = header
            spoilt[keyPath: number] = value
            #expect(throws: StorageError.self, "\(value)") { try spoilt.checked() }
        }
    }

    @Test func headersHoldTogether() {
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

    @Test func commitsWithoutEventsAreRefused() throws {
        var parts = Parts()
        // Three bytes each, of which zstd makes nothing: 20 million of them were a file of 135 KB.
        parts.commits = Parts.bytes([5_000, 0, 1, 0, 0]) + [UInt8](repeating: 0, count: 3 * 4_999)
        #expect(try refusal(parts)?.contains("commits") == true)
        parts.setEvents(2)
        parts.header.lastCommit = 2
        parts.commits = Parts.bytes([2, 0, 2, 0, 0, 0, 0, 0])
        #expect(try refusal(parts)?.contains("commits") == true)
    }

    @Test(arguments: [64 | 1, 128, 128 | 1, 255]) func fieldsOfACommitThatNobodyKnowsAreRefused(_ fields: Int) throws {
        var parts = Parts()
        parts.commits = Parts.bytes([1, 0, 1, 0]) + [UInt8(fields)] + Parts.bytes([1, 65])
        #expect(try refusal(parts)?.contains("commits") == true)
    }

    @Test func bytesBehindTheCommitsAreRefused() throws {
        var parts = Parts()
        parts.commits += [0]
        #expect(try refusal(parts)?.contains("commits") == true)
    }

    @Test func attributesBeyondTheLimitAreRefused() throws {
        var parts = Parts()
        parts.commits = Parts.bytes([1, 0, 1, 0, 32, 60_000]) + [UInt8](repeating: 0, count: 120_000)
        #expect(try refusal(parts)?.contains("commits") == true)
    }

    /// Every row of a run gets room for all columns that the run names.
    @Test func moreColumnsThanATableCanHaveAreRefused() throws {
        var parts = Parts()
        parts.shapes =
            Parts.bytes([1, 40, STORAGE_DELETE, 1, 200_000]) + [UInt8](repeating: 2, count: 200_000)
        #expect(try refusal(parts)?.contains("sections") == true)
        // The same by many shapes, each of which is within the limit.
        parts.setEvents(4)
        var (shapes, column) = (Parts.bytes([4]), 0)
        var streams = Parts.bytes([1 + 4 * 1_500, Int(StreamIdentifier.key(entity: 40, part: 0)), 0, 0])
        for _ in 0..<4 {
            shapes += Parts.bytes([40, STORAGE_DELETE, 1, 1_500])
            var previous: Int64 = 0
            for _ in 0..<1_500 {
                column += 1
                shapes += Parts.bytes([Int(zigzag(Int64(column) - previous))])
                previous = Int64(column)
                streams += Parts.bytes([Int(StreamIdentifier.column(UInt32(column))), 0, 0])
            }
        }
        (parts.shapes, parts.streams) = (shapes, streams)
        #expect(try refusal(parts)?.contains("names more columns") == true)
    }

    @Test func shapesAndStreamsThatNothingUsesAreRefused() throws {
        var parts = Parts()
        parts.shapes =
            Parts.bytes([2]) + Parts.bytes([40, STORAGE_INSERT, 1, 0]) + Parts.bytes([40, STORAGE_DELETE, 1, 0])
        #expect(try refusal(parts)?.contains("sections") == true)
        parts = Parts()
        parts.streams = Parts.bytes([2] + parts.streams.dropFirst().map(Int.init) + [999, 0, 0])
        #expect(try refusal(parts)?.contains("sections") == true)
    }

    @Test func aBodyOfAnotherLengthThanItsRowSaysIsRefused() throws {
        let length = Parts().body.count
        for size in [length + 1, length - 1, Limits.segmentBytes] {
            #expect(try refusal(Parts(), size: size)?.contains("isn't as long") == true)
        }
        #expect(try refusal(Parts(), size: Limits.segmentBytes + 1) != nil)
    }
}
