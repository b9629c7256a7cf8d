internal import Foundation
internal import StorageCore

/// Finds where a write-ahead log ends, and whether it should have ended there.
///
/// SQLite treats the first frame with a wrong checksum as the end of its log, because after a power failure any part of the last
/// transaction may be missing. So one changed byte in the middle removes every later commit, and the next writer overwrites them.
/// Two rules distinguish damage from a torn end (https://sqlite.org/walformat.html):
///
/// 1. Checksums are chained: each continues from that of the previous frame. If a frame continues from the stored checksum of the
///    frame before it, one writer wrote both in this order, whatever happened to earlier frames.
/// 2. A writer appends after the last frame of a transaction only when that transaction is committed, and with
///    `synchronous = FULL` it is on the disk by then. Transactions that were rolled back or failed are overwritten.
///
/// So two frames after a wrong one that each end a transaction and are continued by other frames can't result from a power
/// failure; one can, at the beginning of a log. A torn end has no such frame, nor do the frames of a failed transaction or an
/// earlier round of the log.
///
/// The log's content is never used, except to answer this question.
enum WriteAheadLog {
    /// The damage after a wrong frame.
    struct Damage: Hashable {
        /// The first frame that is wrong, counted from 1; 0 for the log's header.
        let frame: Int
        /// The number of transactions that end after it.
        let transactions: Int
    }

    static func path(ofStore path: String) -> String { path + "-wal" }

    /// Returns the damage of a store's log; nil if there is no log, or if it ends as it should.
    ///
    /// Others may write to the log meanwhile, or restart it. A wrong frame is read once more after those that follow it, when its
    /// write must be complete, and the log's header is read again at the end.
    ///
    /// - Parameter beforeReading: Called with the offset of each frame before it is read, for the tests.
    /// - Complexity: Reads the log once. Memory for one page.
    /// - Throws: `io-error` if the log can't be read.
    static func damage(
        besideStore store: String, beforeReading: @escaping (Int) throws -> Void = { _ in }
    ) throws -> Damage? {
        // Closing the descriptor releases no lock of SQLite, which has none on this file.
        let descriptor = open(path(ofStore: store), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
        // A writer restarts the log only once for thousands of frames.
        for _ in 0..<8 {
            let file = WriteAheadLogFile(
                descriptor, size: Int(found.st_size), name: path(ofStore: store), beforeReading: beforeReading)
            guard let header = try file.header() else { return nil }
            let damage = try damage(in: file, header)
            guard damage != nil, try file.header() != header else { return damage }
        }
        return nil
    }

    private static func damage(in file: WriteAheadLogFile, _ header: WriteAheadLogFile.Header) throws -> Damage? {
        if header.isValid {
            var walk = WriteAheadLogWalk(file, header)
            return try walk.damage()
        }
        // SQLite ignores the whole log. The header reaches the disk before any frame is written.
        for guess in header.guesses {
            guard let guess = try guess.taking(file.frame(1, of: guess)) else { continue }
            if let damage = try WriteAheadLogWalk(file, guess).damageBehindHeader() { return damage }
        }
        return nil
    }
}
