internal import Crypto
internal import Foundation
package import StorageCore

/// How far a writer has said that commits are done: the last position of which the answer was given, kept in the file of the
/// ``Doorbell`` behind its count.
///
/// It is written after SQLite has committed and never synchronised, so that it costs a commit next to nothing. So it is a lower bound: a
/// store whose writer was of `full` durability holds at least that much, whatever has ended the writer. What is missing, foreign or
/// makes no sense says nothing.
package struct Acknowledgement: Hashable {
    package let position: Int64
    let durability: StorageConfig.Durability
    /// The number of the store's file: what was known of another one under this name says nothing of this one.
    let file: UInt64

    /// Bytes that it takes: durability (4), position (8), file (8), checksum (8), numbers in the machine's byte order.
    static let size = 28

    package init(position: Int64, durability: StorageConfig.Durability, file: UInt64) {
        self.position = position
        self.durability = durability
        self.file = file
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        let (position, file, checksum) = bytes.withUnsafeBytes {
            (
                $0.loadUnaligned(fromByteOffset: 4, as: Int64.self),
                $0.loadUnaligned(fromByteOffset: 12, as: UInt64.self),
                $0.loadUnaligned(fromByteOffset: 20, as: UInt64.self)
            )
        }
        guard let durability = Self.durability(bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }),
            checksum == Self.checksum(bytes[..<20]), position == 0 || Limits.numbers.contains(position)
        else { return nil }
        self.init(position: position, durability: durability, file: file)
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: Self.code(durability)) { bytes += $0 }
        withUnsafeBytes(of: position) { bytes += $0 }
        withUnsafeBytes(of: file) { bytes += $0 }
        withUnsafeBytes(of: Self.checksum(bytes[...])) { bytes += $0 }
        return bytes
    }

    private static func code(_ durability: StorageConfig.Durability) -> UInt32 { durability == .full ? 1 : 2 }

    private static func durability(_ code: UInt32) -> StorageConfig.Durability? {
        [1: .full, 2: .normal][code]
    }

    /// The first bytes of the SHA-256: what is half written, or was never written by a writer, has another.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        SHA256.hash(data: bytes).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }

    /// The number of a file; nil where there is none.
    package static func file(of store: String) -> UInt64? {
        var found = stat()
        return stat(store, &found) == 0 ? UInt64(found.st_ino) : nil
    }

    /// What the last writer of a store has left; nil where it is unknown.
    package static func reading(besideStore store: String) -> Acknowledgement? {
        guard let descriptor = Doorbell.openForReading(besideStore: store) else { return nil }
        defer { close(descriptor) }
        // A writer may be writing it.
        for _ in 0..<3 {
            var bytes = [UInt8](repeating: 0, count: size)
            guard pread(descriptor, &bytes, size, off_t(Doorbell.countSize)) == size else { return nil }
            guard let found = Acknowledgement(bytes) else { continue }
            return found.file == file(of: store) ? found : nil
        }
        return nil
    }
}
