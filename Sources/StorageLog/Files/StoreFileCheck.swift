internal import CSQLite
internal import Foundation
internal import StorageCore

/// Checks of the file before SQLite sees it.
package enum StoreFileCheck {
    /// The one name by which the files beside a store are found; the path itself if no store can have it.
    package static func resolved(_ path: String) -> String { (try? validated(path)) ?? path }

    /// The absolute form of a path with its symbolic links resolved: the lock, the write-ahead log and the other files beside the
    /// store are found by its name, so it must have exactly one.
    ///
    /// - Throws: `invalid-name` for URIs, in which SQLite would interpret options, and for NUL; `invalid-argument` for a file
    ///   that has a second name (a hard link).
    static func validated(_ path: String) throws -> String {
        guard !path.isEmpty, !path.utf8.contains(0), !path.lowercased().hasPrefix("file:"), path != ":memory:" else {
            throw StorageError(
                .invalidName, "\"\(path)\" isn't the path of a file.",
                remedy: "Give the path of a file. Programs open a store in memory with StorageKit.inMemory.")
        }
        let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: absolute, isDirectory: &isFolder), isFolder.boolValue {
            throw StorageError(
                .notAStore, "\(path) is a folder.", remedy: "Give the path of a file inside it.")
        }
        var info = stat()
        // Reading from a pipe or device could block forever.
        guard stat(absolute, &info) != 0 || info.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(.notAStore, "\(path) isn't a file, but a pipe or device.", remedy: "Check the name.")
        }
        let folder = (absolute as NSString).deletingLastPathComponent
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw StorageError(
                .notFound, "The folder \(folder) doesn't exist.", remedy: "Create it, or correct the path.")
        }
        let resolved = try resolving(absolute, in: folder)
        var found = stat()
        guard stat(resolved, &found) == 0, found.st_nlink > 1 else { return resolved }
        FilePlacement.removeSecondNames(of: resolved)
        guard stat(resolved, &found) == 0, found.st_nlink > 1 else { return resolved }
        throw StorageError(
            .invalidArgument,
            "\(path) has \(found.st_nlink) names (hard links), and SQLite would keep a write-ahead log for each of them.",
            remedy: "Keep one of the names; a symbolic link may stand for the others.")
    }

    private static func resolving(_ path: String, in folder: String) throws -> String {
        func real(_ path: String) -> String? {
            guard let resolved = realpath(path, nil) else { return nil }
            defer { free(resolved) }
            return String(cString: resolved)
        }
        if let resolved = real(path) { return resolved }
        var found = stat()
        if lstat(path, &found) == 0, found.st_mode & S_IFMT == S_IFLNK {
            throw StorageError(
                .notFound, "\(path) is a symbolic link to a file that isn't there.",
                remedy: "Correct the link, or remove it.")
        }
        guard let parent = real(folder) else { return path }
        return (parent as NSString).appendingPathComponent((path as NSString).lastPathComponent)
    }

    static func checkExists(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw StorageError(.notFound, "There is no store at \(path).", remedy: "Check the path.")
        }
        try checkIsNotLost(path)
        try checkIsDatabase(path)
    }

    /// Checks that a file that is missing or empty isn't what is left of a store: SQLite deletes a write-ahead log whose database
    /// is empty, also when it only reads. An empty file without such remains becomes a new store.
    ///
    /// - Throws: `corrupt` if the file had acknowledged commits; `conflict` if a part of a lost file is beside it.
    static func checkIsNotLost(_ path: String) throws {
        // Looked for before the file: one that another process creates meanwhile has content before it has these.
        let (known, log) = (Acknowledgement.reading(besideStore: path), FilePlacement.log(of: path))
        var found = stat()
        guard stat(path, &found) != 0 || found.st_size == 0 else { return }
        if let known, known.position > 0 {
            throw StorageError(
                .corrupt, "\(path) is empty, and @\(known.position) was acknowledged: its content is lost.",
                remedy: "Restore a backup. To begin a new store, move this file away, and those beside it.")
        }
        if let log, try !isOfCreation(log) { throw FilePlacement.lostDatabase(path, leaving: log) }
    }

    /// Whether a file is the rollback journal of a database that was being created, which SQLite discards rightly: it would return
    /// to a size of no pages, which is also what a header says that hasn't come to the disk.
    private static func isOfCreation(_ log: String) throws -> Bool {
        // https://sqlite.org/fileformat.html, 3
        guard log.hasSuffix("-journal"), !isForeign(log) else { return false }
        return try head(of: log).dropFirst(16).prefix(4).allSatisfy { $0 == 0 }
    }

    /// Checks that a file that isn't empty begins like an SQLite file and is a store, before it may be changed.
    static func checkIsDatabase(_ path: String) throws {
        // Before anything is read: the header may be one that has to be undone.
        try DatabaseFile.undoUnfinishedChange(of: path)
        let head = try head(of: path)
        guard !head.isEmpty else { return }
        guard head.starts(with: "SQLite format 3\0".utf8) else {
            if isMarked(head) { throw StorageError.damagedAtRoot(path, "its first bytes aren't those of SQLite.") }
            throw StorageError(
                .notAStore, "\(path) isn't a StorageKit store: it isn't an SQLite file.", remedy: "Check the name.")
        }
        if !isMarked(head) { try lookInside(path) }
    }

    // https://sqlite.org/fileformat.html, 1.3
    private static let headerBytes = 100
    private static let applicationIdOffset = 68

    /// The file's header; empty if there is no file that may be read.
    ///
    /// - Throws: `io-error` if it can't be read: nothing is known about the file then.
    static func head(of path: String) throws -> [UInt8] {
        // SQLite reports a missing file as it reports failures of the disk.
        guard access(path, R_OK) == 0 else { return [] }
        let connection = try Connection(
            opening: path, flags: SQLITE_OPEN_READONLY, orFailWith: "\(path) can't be read")
        defer { connection.close() }
        return try connection.firstBytes(headerBytes)
    }

    private static let journalMark: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    // https://sqlite.org/walformat.html, 1: two marks that differ in the last byte, then the version of the format.
    private static let logMark: [UInt8] = [0x37, 0x7F, 0x06]
    private static let logVersion: [UInt8] = [0x00, 0x2D, 0xE2, 0x18]

    /// Whether a file begins like a rollback journal that has a change to undo.
    static func isJournal(_ path: String) -> Bool {
        // A writer that is at work may delete it at any time.
        (try? head(of: path))?.starts(with: journalMark) ?? false
    }

    /// Checks that the files beside a database with the names of its logs are SQLite's: it would delete or overwrite others.
    ///
    /// - Throws: `conflict` that names the file.
    static func checkLogs(of path: String) throws {
        guard let log = foreignLog(of: path) else { return }
        throw StorageError(
            .conflict, "\(log) isn't a file of SQLite, which would delete it when it opens \(path).",
            remedy: "Move it away, or give it another name.")
    }

    /// The file beside a database that has the name of one of its logs and isn't one.
    static func foreignLog(of path: String) -> String? {
        ["-wal", "-journal"].map { path + $0 }.first(where: isForeign)
    }

    /// Whether a file with the name of a log isn't SQLite's.
    ///
    /// After a power failure a log may be cut off anywhere, or consist of zeros; `journal_mode = PERSIST` also leaves zeros at its
    /// beginning. A write-ahead log whose mark alone is damaged is still one.
    private static func isForeign(_ log: String) -> Bool {
        var found = stat()
        guard stat(log, &found) == 0, found.st_size > 0 else { return false }
        // What can't be read isn't known, and opening the database reports it. A writer may have removed the file meanwhile.
        guard let head = try? head(of: log), let first = head.first, first != 0 else { return false }
        guard log.hasSuffix("-wal") else { return !journalMark.starts(with: head.prefix(journalMark.count)) }
        return !logMark.starts(with: head.prefix(logMark.count)) && !head.dropFirst(4).starts(with: logVersion)
    }

    /// Whether a file's header says that it is a store.
    static func isMarked(_ head: [UInt8]) -> Bool {
        head.dropFirst(applicationIdOffset).prefix(4).reduce(0) { $0 << 8 | Int64($1) } == StoreSchema.applicationId
    }

    /// Checks the file through SQLite. Opening it for writing would switch it to a write-ahead log, which must not happen to
    /// another program's file. A store's application id may still be only in its write-ahead log, so its header isn't enough.
    private static func lookInside(_ path: String) throws {
        let connection = try Connection(
            opening: path, flags: SQLITE_OPEN_READONLY, orFailWith: "\(path) can't be opened")
        defer { connection.close() }
        storage_disable_checkpoint_on_close(connection.handle)
        let hasLostMark: Bool
        do {
            hasLostMark = try StoreFormat.hasLostMark(connection)
            if try !hasLostMark && !StoreFormat.isEmpty(connection) { try StoreFormat.check(connection) }
        } catch {
            throw StorageError.opening(path, error)
        }
        if hasLostMark { throw StorageError.withoutMark(path) }
    }
}
