internal import Foundation
internal import StorageCore

/// The bytes of a write-ahead log: a header of 32 bytes, then frames, each of 24 bytes and a page.
///
/// Numbers are stored with their highest byte first. Checksums sum words in the byte order that the header declares.
///
/// Not `Sendable`: it belongs to its reader.
final class WriteAheadLogFile {
    /// Two sums over words of 32 bits.
    struct Checksum: Hashable {
        var (first, second): (UInt32, UInt32) = (0, 0)
    }

    struct Header: Hashable {
        var isBigEndian: Bool
        var pageSize: Int
        /// Both salts; each round of the log has a new pair.
        var salts: UInt64
        var checksum: Checksum
        var isValid: Bool
    }

    struct Frame {
        let page: UInt32
        /// The number of the database's pages after the transaction that this frame ends; 0 if it doesn't end one.
        let databasePages: UInt32
        let salts: UInt64
        let checksum: Checksum

        var endsTransaction: Bool { databasePages > 0 }
    }

    private static let headerSize = 32
    private static let frameHeaderSize = 24
    /// The lowest bit says in which byte order words are summed.
    private static let magic: UInt32 = 0x377f_0682

    private let descriptor: Int32
    private let size: Int
    private let name: String
    private let beforeReading: (Int) throws -> Void
    private var buffer: [UInt8]

    /// - Parameter size: The number of bytes to read; the file may grow meanwhile.
    init(_ descriptor: Int32, size: Int, name: String, beforeReading: @escaping (Int) throws -> Void) {
        self.descriptor = descriptor
        self.size = size
        self.name = name
        self.beforeReading = beforeReading
        buffer = [UInt8](repeating: 0, count: Self.frameHeaderSize)
    }

    /// - Returns: nil if the file is shorter.
    func header() throws -> Header? {
        guard try fill(Self.headerSize, from: 0) else { return nil }
        return buffer.withUnsafeBytes { bytes in
            let magic = Self.word(bytes, 0)
            let pageSize = Int(Self.word(bytes, 8))
            let isKnown = magic & ~1 == Self.magic && Self.pageSizes.contains(pageSize)
            var header = Header(
                isBigEndian: magic & 1 == 1, pageSize: pageSize,
                salts: UInt64(Self.word(bytes, 16)) << 32 | UInt64(Self.word(bytes, 20)),
                checksum: Checksum(first: Self.word(bytes, 24), second: Self.word(bytes, 28)), isValid: false)
            let sum = Checksum().adding(bytes[0..<24], isBigEndian: header.isBigEndian)
            header.isValid = isKnown && sum == header.checksum
            return header
        }
    }

    /// Reads the header of a frame.
    ///
    /// - Parameter number: From 1.
    /// - Returns: nil after the last complete frame.
    func frame(_ number: Int, of header: Header) throws -> Frame? {
        let start = offset(of: number, header)
        try beforeReading(start)
        guard start + Self.frameHeaderSize + header.pageSize <= size, try fill(Self.frameHeaderSize, from: start) else {
            return nil
        }
        return buffer.withUnsafeBytes { bytes in
            Frame(
                page: Self.word(bytes, 0), databasePages: Self.word(bytes, 4),
                salts: UInt64(Self.word(bytes, 8)) << 32 | UInt64(Self.word(bytes, 12)),
                checksum: Checksum(first: Self.word(bytes, 16), second: Self.word(bytes, 20)))
        }
    }

    /// Whether a frame belongs to this round of the log and its checksum continues from another.
    func isChained(_ frame: Frame, number: Int, to before: Checksum, header: Header) throws -> Bool {
        guard frame.salts == header.salts, frame.page > 0,
            try fill(Self.frameHeaderSize + header.pageSize, from: offset(of: number, header))
        else { return false }
        return buffer.withUnsafeBytes { bytes in
            let page = bytes[Self.frameHeaderSize..<(Self.frameHeaderSize + header.pageSize)]
            return before.adding(bytes[0..<8], isBigEndian: header.isBigEndian)
                .adding(page, isBigEndian: header.isBigEndian) == frame.checksum
        }
    }

    private func offset(of number: Int, _ header: Header) -> Int {
        Self.headerSize + (number - 1) * (Self.frameHeaderSize + header.pageSize)
    }

    /// Reads a number of bytes to the beginning of the buffer.
    ///
    /// - Returns: Whether the file has that many.
    private func fill(_ count: Int, from offset: Int) throws -> Bool {
        if buffer.count < count { buffer = [UInt8](repeating: 0, count: count) }
        var done = 0
        while done < count {
            let read = buffer.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else {
                throw StorageError(
                    .ioError, "\(name) can't be read: \(String(cString: strerror(errno))).",
                    remedy: "Check the disk, then try again.")
            }
            guard read > 0 else { return false }
            done += read
        }
        return true
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    fileprivate static let pageSizes = (9...16).map { 1 << $0 }
}

extension WriteAheadLogFile.Header {
    /// Headers that this one may have been, if its own checksum shows that it was changed.
    var guesses: [Self] {
        let orders = [isBigEndian, !isBigEndian]
        return WriteAheadLogFile.pageSizes.flatMap { size in
            orders.map { order in
                var guess = self
                (guess.isBigEndian, guess.pageSize) = (order, size)
                return guess
            }
        }
    }

    /// The header with the salts and checksum of the first frame: its salts are those of the header.
    func taking(_ first: WriteAheadLogFile.Frame?) -> Self? {
        guard let first else { return nil }
        var header = self
        (header.salts, header.checksum) = (first.salts, first.checksum)
        return header
    }
}

extension WriteAheadLogFile.Checksum {
    /// - Parameter bytes: Their number is a multiple of eight.
    fileprivate func adding(_ bytes: Slice<UnsafeRawBufferPointer>, isBigEndian: Bool) -> Self {
        let words = UnsafeRawBufferPointer(rebasing: bytes)
        var (first, second) = (first, second)
        for offset in stride(from: 0, to: words.count, by: 8) {
            let pair = words.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // In memory order: the first word is the one with the lower address.
            let ordered = isBigEndian ? UInt64(bigEndian: pair) : UInt64(littleEndian: pair)
            let (one, two) =
                isBigEndian
                ? (UInt32(truncatingIfNeeded: ordered >> 32), UInt32(truncatingIfNeeded: ordered))
                : (UInt32(truncatingIfNeeded: ordered), UInt32(truncatingIfNeeded: ordered >> 32))
            first = first &+ one &+ second
            second = second &+ two &+ first
        }
        return Self(first: first, second: second)
    }
}
