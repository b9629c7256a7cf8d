internal import Foundation
internal import StorageCore

/// Where a write-ahead log ends, and whether it should have ended there.
///
/// SQLite takes the first frame whose checksum is wrong for the end of its log, because after the loss of power the last
/// transaction may be there in any part. So one byte that is changed in the middle takes away every commit behind it, and the
/// next writer overwrites them. What distinguishes the two (https://sqlite.org/walformat.html):
///
/// 1. Checksums are chained: each goes on from that of the frame before. Where a frame goes on from the stored checksum of
///    the one before, both came from one writer in this order, whatever became of frames further in front.
/// 2. A writer goes on behind the last frame of a transaction only once that transaction is committed, and with
///    `synchronous = FULL` it is on the disk then. What was rolled back, or failed, is overwritten.
///
/// So two frames that end a transaction and that other frames go on from, behind a frame that is wrong, can't come of a loss of
/// power; one can, at the beginning of a log. A torn end has no such frame, nor have frames that a failed transaction or an
/// earlier round of the log has left.
///
/// The log is read and never believed: nothing but the answer to this question comes of it.
enum WriteAheadLog {
    /// What lies behind a frame that is wrong.
    struct Damage: Hashable {
        /// The first frame that is wrong, counted from 1; 0 for the log's header.
        let frame: Int
        /// How many transactions end behind it.
        let transactions: Int
    }

    static func path(ofStore path: String) -> String { path + "-wal" }

    /// What is wrong with the log of a store; nil where there is no log, or it ends as it should.
    ///
    /// Others may write to the log meanwhile, or begin it again. A frame that is wrong is read once more after those behind it,
    /// when it must have been whole, and the log's header again at the end.
    ///
    /// - Parameter beforeReading: Called with the place of each frame that is read, for the tests.
    /// - Complexity: Reads the log once. Memory for one page.
    /// - Throws: `io-error` where the log can't be read.
    static func damage(
        besideStore store: String, beforeReading: @escaping (Int) throws -> Void = { _ in }
    ) throws -> Damage? {
        // Closing it loses no lock of SQLite's, which has none on this file.
        let descriptor = open(path(ofStore: store), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
        // A writer begins the log again once for thousands of frames.
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
        // SQLite ignores the whole log. Its header is on the disk before any frame is written.
        for guess in header.guesses {
            guard let guess = try guess.taking(file.frame(1, of: guess)) else { continue }
            if let damage = try WriteAheadLogWalk(file, guess).damageBehindHeader() { return damage }
        }
        return nil
    }
}
