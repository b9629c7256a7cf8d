import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

@Suite struct LineReaderTests {
    struct Line: Equatable {
        let text: String
        let number: Int
        let offset: Int
    }

    private func lines(of content: [UInt8], limit: Int = LineReader.defaultLineLimit) throws -> (
        lines: [Line], hash: UInt64
    ) {
        let file = try TemporaryFile(content)
        let reader = try LineReader(path: file.path, lineLimit: limit)
        var lines: [Line] = []
        while let line = try reader.next() {
            lines.append(Line(text: line.bytes.string, number: line.number, offset: line.offset))
        }
        #expect(try reader.next() == nil)
        #expect(reader.lineNumber == lines.count)
        #expect(reader.bytesRead == content.count)
        #expect(reader.size == content.count)
        return (lines, reader.hash)
    }

    private func text(_ content: String) throws -> [String] { try lines(of: Array(content.utf8)).lines.map(\.text) }

    private func error(of content: [UInt8], limit: Int = LineReader.defaultLineLimit) throws -> CommandError {
        try #require(throws: CommandError.self) { try lines(of: content, limit: limit) }
    }

    /// Lines of many lengths, some longer than all buffers.
    private static let sample: [UInt8] = {
        var generator = SplitMix64(seed: 1)
        var bytes: [UInt8] = []
        for length in [0, 1, 700_000, 3, 0, 262_144, 262_143, 5] + (0..<3000).map({ $0 % 500 }) {
            bytes += (0..<length).map { _ in UInt8.random(in: 32..<127, using: &generator) }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }()

    private static let compressedSample = compressed(sample)

    /// A frame with one raw block `abc` that asks for a window of two to the power of `windowLog` (RFC 8878, 3.1.1).
    private static func frame(windowLog: UInt8) -> [UInt8] {
        [0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3, 3 << 3 | 1, 0, 0] + Array("abc".utf8)
    }

    @Test("Lines end with line feeds, carriage returns or the file")
    func lineEndings() throws {
        #expect(try text("") == [])
        #expect(try text("a") == ["a"])
        #expect(try text("a\n") == ["a"])
        #expect(try text("\n") == [""])
        #expect(try text("a\r\nb\n\nc") == ["a", "b", "", "c"])
        #expect(try text("\r\n\r") == ["", ""])
        #expect(try text("\u{feff}{}\n\u{feff}x") == ["{}", "\u{feff}x"])
        #expect(try text("\u{feff}") == [""])
        #expect(try text("ab") == ["ab"])
    }

    @Test("Numbers and offsets count lines and uncompressed bytes")
    func numbersAndOffsets() throws {
        let content = Array("ab\r\n\nc\n".utf8)
        let expected = [
            Line(text: "ab", number: 1, offset: 0), Line(text: "", number: 2, offset: 4),
            Line(text: "c", number: 3, offset: 5),
        ]
        #expect(try lines(of: content).lines == expected)
        #expect(try lines(of: compressed(content)).lines == expected)
    }

    @Test("Compression changes nothing")
    func compressionChangesNothing() throws {
        let content = Self.sample
        let plain = try lines(of: content)
        #expect(
            plain.lines.map { Array($0.text.utf8) }
                == content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast().map(
                    Array.init))
        let cut = content.count / 3
        let frames = [
            Self.compressedSample, compressed(content, windowLog: 27),
            compressed(Array(content[..<cut])) + compressed([]) + compressed(Array(content[cut...]), level: 9),
            // A skippable frame in front, as parallel compressors write it.
            [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4] + Self.compressedSample,
        ]
        for frame in frames {
            let other = try lines(of: frame)
            #expect(other.lines == plain.lines)
            #expect(other.hash == plain.hash)
        }
    }

    @Test("The hash covers all bytes so far")
    func hashCoversAllBytes() throws {
        let content = Self.sample
        let file = try TemporaryFile(content)
        let reader = try LineReader(path: file.path)
        while try reader.next() != nil, reader.lineNumber < 1000 {}
        let hash = reader.hash
        #expect(try lines(of: Array(content[..<reader.offset])).hash == hash)
        var changed = Array(content[..<reader.offset])
        changed[reader.offset / 2] ^= 1
        #expect(try lines(of: changed).hash != hash)
        #expect(try lines(of: Array("a\n".utf8)).hash != lines(of: Array("a\r\n".utf8)).hash)
        #expect(try lines(of: Array("a\n\n".utf8)).hash != lines(of: Array("a\n".utf8)).hash)
    }

    @Test("A last line counts as if it had a line break", arguments: [1, 1 << 18 - 1, 1 << 18, 1 << 18 + 1])
    func lastLineBreak(length: Int) throws {
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: length)
        for content in [line, Array("a\r\n".utf8) + line] {
            let (lines, hash) = try lines(of: content)
            let ended = try self.lines(of: content + [UInt8(ascii: "\n")])
            #expect(lines == ended.lines)
            #expect(hash == ended.hash)
            let file = try TemporaryFile(content)
            let reader = try LineReader(path: file.path)
            while try reader.next() != nil {}
            #expect(reader.offset == content.count + 1)
        }
    }

    @Test("Truncation is an error wherever it happens")
    func truncationIsAnError() throws {
        let whole = Self.compressedSample
        var generator = SplitMix64(seed: 4)
        for length in [4, 5, 12, whole.count - 1]
            + (0..<40).map({ _ in Int.random(in: 5..<whole.count, using: &generator) })
        {
            let error = try error(of: Array(whole[..<length]))
            #expect(error.status == .corrupt)
            #expect(error.what.contains("uncompressed bytes"))
            #expect(error.why.contains("cut off"), "\(length): \(error)")
        }
    }

    @Test("Damage and foreign bytes are errors")
    func damageAndForeignBytes() throws {
        let whole = Self.compressedSample
        #expect(try error(of: whole + Array("tail".utf8)).status == .corrupt)
        #expect(try lines(of: Self.frame(windowLog: 27)).lines.map(\.text) == ["abc"])
        #expect(try error(of: Self.frame(windowLog: 28)).status == .corrupt)
        var generator = SplitMix64(seed: 6)
        for _ in 0..<50 {
            var damaged = whole
            damaged[Int.random(in: 4..<damaged.count, using: &generator)] ^= 0x55
            // Without a checksum damage may go unnoticed here; it must never crash or hang.
            _ = try? lines(of: damaged)
        }
    }

    @Test("Long lines are refused")
    func longLines() throws {
        #expect(try lines(of: Array("12345678\n1234567\r\n12345678".utf8), limit: 8).lines.count == 3)
        #expect(try error(of: Array("123456789\n".utf8), limit: 8).what.hasPrefix("Line 1 of"))
        #expect(try error(of: Array("a\n123456789".utf8), limit: 8).what.contains("Line 2 of"))
        let endless = compressed([UInt8](repeating: 32, count: 5_000_000))
        #expect(try error(of: endless, limit: 1_000_000).status == .conflict)
    }

    @Test("Pipes are read as they deliver")
    func pipes() throws {
        let pipe = Pipe()
        let content = Self.sample
        let writing = pipe.fileHandleForWriting
        let writer = BackgroundThread {
            var rest = compressed(content)[...]
            while !rest.isEmpty {
                let piece = rest.prefix(rest.count > 1000 ? 7919 : 1)
                guard (try? writing.write(contentsOf: Data(piece))) != nil else { return false }
                rest = rest.dropFirst(piece.count)
            }
            return (try? writing.close()) != nil
        }
        let reader = LineReader(FileInput(descriptor: pipe.fileHandleForReading.fileDescriptor, name: "a pipe"))
        var count = 0
        while try reader.next() != nil { count += 1 }
        #expect(writer.wait() == true)
        #expect(count == content.count { $0 == UInt8(ascii: "\n") })
        #expect(reader.size == nil)
    }

    @Test("Missing files and directories are reported")
    func missingFilesAndDirectories() throws {
        let missing = try #require(throws: CommandError.self) { try LineReader(path: "/nonexistent/file") }
        #expect(missing.status == .notFound)
        let directory = try #require(throws: CommandError.self) { try LineReader(path: NSTemporaryDirectory()).next() }
        #expect(directory.status == .unavailable)
    }

    /// Set STORAGEKIT_HISTORY_FILE to a file of change history to read all of it.
    @Test(
        "Real histories are parsed", .enabled(if: ProcessInfo.processInfo.environment["STORAGEKIT_HISTORY_FILE"] != nil)
    )
    func realHistories() throws {
        let path = try #require(ProcessInfo.processInfo.environment["STORAGEKIT_HISTORY_FILE"])
        let start = ContinuousClock.now
        let reader = try LineReader(path: path)
        var parser = OperationParser()
        var operation = HistoryOperation()
        var columns = 0
        while let line = try reader.next() {
            try parser.parse(line.bytes, into: &operation)
            columns += operation.columns.count
        }
        print(
            "\(reader.lineNumber) lines, \(columns) columns, \(reader.offset) bytes in \(ContinuousClock.now - start)")
        #expect(reader.lineNumber > 0)
    }
}
