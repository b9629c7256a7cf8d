import Foundation

/// The lines of a file, a pipe or standard input, plain or compressed by zstd, with bounded memory.
///
/// Lines end with LF or CRLF; the last one may end without. A byte order mark at the very start isn't part of the first line. Empty lines are lines.
///
/// `hash` identifies all bytes up to the end of the last returned line, so that an import can check, before it resumes, that the input still begins
/// with what it has stored. It guards against mistakes, not against forgery.
final class LineReader {
    /// Longer lines are refused, so that a file without line breaks can't take all memory.
    static let defaultLineLimit = 64 << 20
    private static let initialCapacity = 1 << 18

    private var input: ByteInput
    private let lineLimit: Int
    /// `start..<end` is read but not yet returned; there is no line break before `searched`.
    private var buffer: UnsafeMutableRawBufferPointer
    private var start = 0
    private var searched = 0
    private var end = 0

    /// The number of the line last returned.
    private(set) var lineNumber = 0
    /// The number of uncompressed bytes of the lines returned so far, with their line breaks. A last line without one counts as if it had one, so
    /// that an import resumes when other lines have followed it.
    private(set) var offset = 0
    /// A hash of those bytes; it doesn't depend on how the input is compressed or delivered.
    private(set) var hash: UInt64 = 0

    /// - Parameter path: `-` is standard input.
    convenience init(path: String, lineLimit: Int = LineReader.defaultLineLimit) throws(CommandError) {
        self.init(try FileInput(path: path), lineLimit: lineLimit)
    }

    init(_ file: consuming FileInput, lineLimit: Int = LineReader.defaultLineLimit) {
        input = ByteInput(file)
        self.lineLimit = lineLimit
        buffer = .allocate(byteCount: Self.initialCapacity, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// The input's name in errors.
    var name: String { input.name }
    /// Bytes of the file, as it is on the disk, that were read; for progress against `size`.
    var bytesRead: Int { input.bytesRead }
    /// The size of the file on the disk; nil for pipes.
    var size: Int? { input.size }

    /// Returns whether the next line is available, or some of its bytes arrive within a number of milliseconds.
    func isReady(withinMilliseconds wait: Int32) -> Bool {
        indexOfLineBreak() != nil || input.isReady(withinMilliseconds: wait)
    }

    /// The next line; nil at the end.
    func next() throws(CommandError) -> InputLine? {
        while true {
            if let lineBreak = indexOfLineBreak() { return try take(upTo: lineBreak, through: lineBreak + 1) }
            searched = end
            guard end - start <= lineLimit + 2 else { throw tooLong() }
            if try !fill() {
                guard start < end else { return nil }
                // `fill` leaves room for at least one byte.
                buffer[end] = UInt8(ascii: "\n")
                end += 1
            }
        }
    }

    private func indexOfLineBreak() -> Int? {
        guard searched < end, let base = buffer.baseAddress,
            let found = memchr(base + searched, Int32(UInt8(ascii: "\n")), end - searched)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    /// Reads more bytes into the buffer; false at the end.
    private func fill() throws(CommandError) -> Bool {
        if start > 0 {
            // Only the unfinished line is moved, so a byte moves once for each buffer length that its line exceeds.
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
            searched -= start
            end -= start
            start = 0
        }
        if end == buffer.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: buffer.count * 2, alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
            buffer.deallocate()
            buffer = larger
        }
        let count = try input.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...]))
        end += count
        return count > 0
    }

    private func take(upTo lineEnd: Int, through nextStart: Int) throws(CommandError) -> InputLine {
        var first = start
        var last = lineEnd
        if last > first, buffer[last - 1] == UInt8(ascii: "\r") { last -= 1 }
        guard last - first <= lineLimit else { throw tooLong() }
        let lineOffset = offset
        hash = ByteHash.hash(UnsafeRawBufferPointer(rebasing: buffer[start..<nextStart]), seed: hash)
        offset += nextStart - start
        lineNumber += 1
        start = nextStart
        searched = nextStart
        if lineOffset == 0, last - first >= 3, buffer[first] == 0xef, buffer[first + 1] == 0xbb,
            buffer[first + 2] == 0xbf
        {
            first += 3
        }
        return InputLine(
            bytes: UnsafeRawBufferPointer(rebasing: buffer[first..<last]), number: lineNumber, offset: lineOffset)
    }

    private func tooLong() -> CommandError {
        CommandError(
            .conflict,
            "Line \(lineNumber + 1) of \(name), which begins at byte \(offset), is longer than \(lineLimit) bytes.",
            why: "Lines are held in memory whole.", next: "Split the row, or keep the large value outside of the store."
        )
    }
}
