import CZstd

/// The bytes of a file, decompressed if they are in zstd frames.
///
/// The format is determined by the first four bytes, never by the file's name.
struct ByteInput: ~Copyable {
    /// A frame with a window of more than 128 MiB is refused, so memory stays bounded for any file.
    private static let windowLogMax: Int32 = 27
    private static let bufferSize = 1 << 17

    private let file: FileInput
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 16)
    private var start = 0
    private var end = 0
    private var isAtEnd = false
    private var isDetected = false
    private var decoder: OpaquePointer?
    private var isInsideFrame = false

    /// The number of bytes of the file that were read, for progress against `size`.
    private(set) var bytesRead = 0
    /// The number of bytes that were returned.
    private(set) var bytesProduced = 0

    init(_ file: consuming FileInput) {
        self.file = file
    }

    deinit {
        buffer.deallocate()
        ZSTD_freeDCtx(decoder)
    }

    var name: String { file.name }
    var size: Int? { file.size }

    /// Writes at least one byte to `target`, which isn't empty, or returns zero at the end.
    mutating func read(into target: UnsafeMutableRawBufferPointer) throws(CommandError) -> Int {
        if !isDetected { try detect() }
        let count = decoder == nil ? try readPlain(into: target) : try decompress(into: target)
        bytesProduced += count
        return count
    }

    /// Returns whether bytes are available, or arrive within a number of milliseconds.
    func isReady(withinMilliseconds wait: Int32) -> Bool {
        start < end || isAtEnd || file.isReady(withinMilliseconds: wait)
    }

    private mutating func detect() throws(CommandError) {
        isDetected = true
        while end < 4, !isAtEnd { try fill() }
        guard end >= 4 else { return }
        let magic = UInt32(littleEndian: buffer.loadUnaligned(as: UInt32.self))
        // Some compressors put a skippable frame first; both magic numbers are in RFC 8878 section 3.1.
        guard magic == 0xfd2f_b528 || magic & 0xffff_fff0 == 0x184d_2a50 else { return }
        guard let decoder = ZSTD_createDCtx() else {
            throw CommandError(
                .unavailable, "There is no memory to uncompress \(name).",
                next: "Uncompress it first: zstd -d \(name)")
        }
        self.decoder = decoder
        ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, Self.windowLogMax)
    }

    /// Appends bytes of the file to the buffer, which has room.
    private mutating func fill() throws(CommandError) {
        let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...]))
        isAtEnd = count == 0
        bytesRead += count
        end += count
    }

    private mutating func readPlain(into target: UnsafeMutableRawBufferPointer) throws(CommandError) -> Int {
        guard start == end else {
            let count = min(target.count, end - start)
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<start + count]))
            start += count
            return count
        }
        guard !isAtEnd else { return 0 }
        let count = try file.read(into: target)
        isAtEnd = count == 0
        bytesRead += count
        return count
    }

    private mutating func decompress(into target: UnsafeMutableRawBufferPointer) throws(CommandError) -> Int {
        var output = ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: 0)
        while output.pos == 0 {
            if start == end, !isAtEnd {
                start = 0
                end = 0
                try fill()
            }
            // Between frames there is nothing to flush, and a call would begin a frame that never arrives.
            if start == end, isAtEnd, !isInsideFrame { return 0 }
            var input = ZSTD_inBuffer(src: buffer.baseAddress, size: end, pos: start)
            let result = ZSTD_decompressStream(decoder, &output, &input)
            guard ZSTD_isError(result) == 0 else { throw corrupt(String(cString: ZSTD_getErrorName(result))) }
            let isStuck = input.pos == start && output.pos == 0
            start = input.pos
            isInsideFrame = result != 0
            if isStuck, isAtEnd {
                throw corrupt("The file ends inside a zstd frame; it was cut off.")
            }
        }
        return output.pos
    }

    private func corrupt(_ why: String) -> CommandError {
        CommandError(
            .corrupt,
            "The compressed data of \(name) is damaged after \(bytesProduced) uncompressed bytes, near byte \(bytesRead - (end - start)) of the file.",
            why: why, next: "Copy or download the file again; zstd -t FILE checks it.")
    }
}
