internal import Crypto
internal import Foundation
package import StorageCore

/// The last position whose commit a writer has reported as done, kept in the file of the ``Doorbell`` after its count.
///
/// It is written after SQLite has committed and is never synchronised, so that it costs a commit next to nothing. It is therefore
/// a lower bound: a store whose writer had `full` durability holds at least that much, however the writer ended. A missing,
/// foreign or invalid acknowledgement counts as none.
package struct Acknowledgement: Hashable {
    package let position: Int64
    let durability: StorageConfig.Durability
    /// The inode of the store's file: an acknowledgement for another file of this name doesn't apply.
    let file: UInt64

    /// The size in bytes: durability (4), position (8), file (8), checksum (8), numbers in the machine's byte order.
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

    /// The first bytes of the SHA-256: those of half-written or foreign bytes differ.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        SHA256.hash(data: bytes).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }

    /// The inode of a store's file; nil if there is no such file.
    package static func file(of store: String) -> UInt64? {
        var found = stat()
        return stat(store, &found) == 0 ? UInt64(found.st_ino) : nil
    }

    /// The acknowledgement that a store's last writer has left; nil if it is unknown.
    package static func reading(besideStore store: String) -> Acknowledgement? {
        guard let descriptor = Doorbell.openForReading(besideStore: store) else { return nil }
        defer { close(descriptor) }
        // Retries, because a writer may be writing it.
        for _ in 0..<3 {
            var bytes = [UInt8](repeating: 0, count: size)
            guard pread(descriptor, &bytes, size, off_t(Doorbell.countSize)) == size else { return nil }
            guard let found = Acknowledgement(bytes) else { continue }
            return found.file == file(of: store) ? found : nil
        }
        return nil
    }
}
