internal import Foundation
internal import StorageCore
internal import Synchronization

/// A file that gets its name only when it is complete: it is written under another name in the same folder, flushed to the disk,
/// and then renamed. An interrupted process leaves nothing under the final name. From the beginning it can only be read by those
/// who may read the file that it replaces or is made from.
///
/// Isolation: `Sendable`, without state of its own. The process knows which files it is writing.
package struct FilePlacement: Sendable {
    /// The final name.
    package let destination: String
    /// The path at which the file is written.
    package let partial: String
    private let replaces: Bool

    private static let number = Atomic<Int>(0)
    /// The files that are being written.
    private static let unfinished = Mutex<[String: FilePlacement]>([:])
    private static let mark = ".partial-"
    private static let sidecars = ["-wal", "-shm", "-journal", ".lock", ".bell"]

    /// Creates the file, empty and under its first name.
    ///
    /// - Parameters:
    ///   - replacing: Whether an existing file of that name may be replaced, which gives the new one its permissions.
    ///   - source: The file that gives it its permissions otherwise.
    /// - Throws: `conflict` if there is one that may not be replaced, a part of a lost one, or one that can't be completed before it
    ///   is replaced; `busy` if the one to replace is in use; `io-error` if it can't be created.
    package init(_ path: String, replacing: Bool, like source: String) throws {
        try self.init(checking: path, replacing: replacing)
        // Now too, so that a process that has the file open is found before the work.
        if Self.log(of: destination) != nil {
            let lock = try lockFormer { try completeFormer() }
            // The work may still fail, and the former then stays as it was.
            if lock.isFileNew { lock.removeFile() }
            lock.release()
        }
        removeLeftovers()
        let model = FileManager.default.fileExists(atPath: destination) ? destination : source
        // A signal that ends the process comes before or after both.
        let (isCreated, code) = Self.unfinished.withLock { files in
            files[partial] = self
            return (StoredFile.create(partial, like: model), errno)
        }
        guard isCreated else {
            errno = code
            let error = failure("created")
            discard()
            throw error
        }
    }

    private init(checking path: String, replacing: Bool) throws {
        destination = try StoreFileCheck.validated(path)
        replaces = replacing
        let number = Self.number.add(1, ordering: .relaxed).newValue
        partial = "\(destination)\(Self.mark)\(getpid())-\(number)"
        try checkDestination()
    }

    /// Checks whether a file could be created at a path, without changing anything.
    ///
    /// - Throws: `conflict` or `busy`, as `init(_:replacing:like:)`.
    package static func check(_ path: String, replacing: Bool) throws {
        _ = try FilePlacement(checking: path, replacing: replacing)
    }

    /// - Throws: `conflict` if the path is that of the source file, which would be replaced by its own result.
    package static func check(_ path: String, isNot source: String) throws {
        var (own, its) = (stat(), stat())
        guard stat(source, &own) == 0, stat(path, &its) == 0, own.st_dev == its.st_dev, own.st_ino == its.st_ino else {
            return
        }
        throw StorageError(
            .conflict, "\(path) is the source file itself.", remedy: "Give the output another name.")
    }

    /// Checks whether the name is available. Called twice, because creating the file takes time.
    private func checkDestination() throws {
        try checkName()
        guard let log = Self.log(of: destination) else { return }
        try WriterLock.check(isFree: destination)
        try checkFormer(log)
    }

    private func checkName() throws {
        var found = stat()
        let exists = stat(destination, &found) == 0
        guard replaces || !exists else { throw taken() }
        guard !exists || found.st_size == 0, let log = Self.log(of: destination) else { return }
        throw Self.lostDatabase(destination, leaving: log)
    }

    /// Checks whether a former file can be completed from the log that an ended process has left beside it.
    private func checkFormer(_ log: String) throws {
        if let foreign = StoreFileCheck.foreignLog(of: destination) { throw incompleteFormer(foreign) }
        guard let loss = try AcknowledgedEnd(store: destination).writeAheadLogLoss(), loss.isDamage else { return }
        throw incompleteFormer(log, cause: StorageError(loss))
    }

    /// Brings what an ended process has left in a log into the former file. The log can't be removed before, because the file
    /// would lose commits if this process ended too, nor after, because SQLite would apply it to the new file.
    ///
    /// - Throws: `busy` if another program has the file open; `conflict` if it can't be completed.
    private func completeFormer() throws {
        guard let log = Self.log(of: destination) else { return }
        try checkFormer(log)
        do {
            // Opening it undoes the change of a rollback journal, and closing it removes the journal.
            let former = try DatabaseFile(destination, .owning)
            try former.run("PRAGMA wal_checkpoint(TRUNCATE)")
        } catch let error as StorageError where [.corrupt, .notAStore, .readOnly].contains(error.code) {
            throw incompleteFormer(log, cause: error)
        }
        guard let log = Self.log(of: destination) else { return }
        // A journal of zeros, as `journal_mode = PERSIST` leaves it, holds nothing of the file.
        guard log.hasSuffix("-journal"), try StoreFileCheck.head(of: log).first == 0, unlink(log) == 0 else {
            throw incompleteFormer(log)
        }
    }

    /// Takes the lock of the former file, then runs `body`. If that throws, the lock leaves no file that wasn't there before: the
    /// former may be another program's.
    private func lockFormer(_ body: () throws -> Void) throws -> WriterLock {
        let lock = try WriterLock(store: destination)
        do {
            try body()
        } catch {
            if lock.isFileNew { lock.removeFile() }
            lock.release()
            throw error
        }
        return lock
    }

    private func incompleteFormer(_ log: String, cause: StorageError? = nil) -> StorageError {
        StorageError(
            .conflict, "\(destination) can't be replaced: a part of it is in \(log) and can't be brought into it.",
            remedy: "Move \(destination) and \(log) away together, then try again.", cause: cause)
    }

    /// The error for creating a database beside a part of a lost one.
    static func lostDatabase(_ path: String, leaving log: String) -> StorageError {
        StorageError(
            .conflict, "There is a \(log) without its database: SQLite would read it as a part of the new \(path).",
            remedy: "It may hold the last changes of a lost file: move it away, or give another name.")
    }

    /// The file beside a database that holds a part of its content; nil if the database is complete by itself.
    static func log(of path: String) -> String? {
        ["-wal", "-journal"].map { path + $0 }.first { name in
            var info = stat()
            return stat(name, &info) == 0 && info.st_size > 0
        }
    }

    /// - Throws: `io-error` if a part of the content is in a file beside it, which wouldn't be renamed.
    package func checkIsWhole() throws {
        guard let log = Self.log(of: partial) else { return }
        throw StorageError(
            .ioError, "\(partial) is incomplete: a part of it is still in \(log).",
            remedy: "Check the room on its disk, then try again.")
    }

    private func taken() -> StorageError {
        StorageError(
            .conflict, "There is a file \(destination) already.",
            remedy: "Give another name, or have it replaced (replacing: true, --force).")
    }

    private func removeLeftovers() {
        for path in Self.leftovers(of: destination) { unlink(path) }
        // Of an earlier process that had the number of this one.
        discard()
    }

    /// Files that ended processes have left behind while they created a file of this name.
    package static func leftovers(of destination: String) -> [String] {
        let folder = (destination as NSString).deletingLastPathComponent
        let prefix = (destination as NSString).lastPathComponent + mark
        // If the folder can't be listed, creating the file fails with the reason.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        return names.filter { name in
            guard name.hasPrefix(prefix) else { return false }
            guard let process = process(fromSuffix: name.dropFirst(prefix.count)) else { return false }
            return kill(process, 0) != 0 && errno == ESRCH
        }.sorted().map { (folder as NSString).appendingPathComponent($0) }
    }

    /// The process that has created a file with this suffix; nil if it isn't a suffix of ``partial`` or of the files beside it.
    private static func process(fromSuffix suffix: Substring) -> pid_t? {
        let parts = suffix.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.allSatisfy(isDigit) else { return nil }
        let rest = parts[1].utf8.drop(while: isDigit)
        guard rest.count < parts[1].utf8.count, ([""] + sidecars).contains(String(Substring(rest))) else { return nil }
        return pid_t(parts[0])
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Removes the names under which a file was created and which it still has besides its own, because its process ended between
    /// linking and unlinking.
    static func removeSecondNames(of path: String) {
        let folder = (path as NSString).deletingLastPathComponent
        let prefix = (path as NSString).lastPathComponent + mark
        var own = stat()
        guard stat(path, &own) == 0 else { return }
        // If the folder can't be listed or written to, the file keeps two names, and opening it is refused.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasPrefix(prefix) {
            var its = stat()
            guard stat(folder + "/" + name, &its) == 0, its.st_dev == own.st_dev, its.st_ino == own.st_ino else {
                continue
            }
            unlink(folder + "/" + name)
        }
    }

    /// Flushes the file to the disk and gives it its name.
    ///
    /// - Throws: `conflict` or `busy` if the name isn't available; `io-error` if the file isn't complete, or if it has its name
    ///   but its folder can't be flushed.
    package func place() throws {
        try checkIsWhole()
        try synchronize(partial)
        try checkDestination()
        var lock: WriterLock?
        defer { lock?.release() }
        if hasFormer {
            lock = try lockFormer {
                // A writer may have come before the lock.
                try checkName()
                try completeFormer()
                try removeFormer()
            }
        }
        if replaces {
            guard rename(partial, destination) == 0 else { throw failure("renamed to \(destination)") }
        } else {
            // Unlike a rename, a link never replaces a file that was created there meanwhile.
            guard link(partial, destination) == 0 else {
                throw errno == EEXIST ? taken() : failure("named \(destination)")
            }
        }
        discard()
        do {
            try synchronize((destination as NSString).deletingLastPathComponent)
        } catch let error as StorageError {
            throw StorageError(
                .ioError,
                "\(destination) is complete, but its folder can't be flushed: a power failure may undo the rename.",
                remedy: "Check the disk. The file is complete as long as the power stays on.", cause: error)
        }
    }

    /// What may be beside a former file of this name and doesn't apply to the new one: the index of its write-ahead log, in which
    /// SQLite keeps the size of the file for as long as a reader has it open, the log itself, which is empty, and the
    /// acknowledgement. The index comes first: with a new log, its readers would take the frames of one file for the other's.
    private var former: [String] { ["-shm", "-wal", ".bell"].map { destination + $0 } }

    private var hasFormer: Bool { ([destination] + former).contains { FileManager.default.fileExists(atPath: $0) } }

    /// Removes what is beside a former file, whose readers keep theirs, so that the new file gets its own.
    ///
    /// Before it has its name: if the process ends in between, the former file is complete without them.
    private func removeFormer() throws {
        for path in former {
            guard unlink(path) == 0 || errno == ENOENT else {
                throw StorageError(
                    .ioError, "\(path) can't be removed: \(String(cString: strerror(errno))).",
                    remedy: "It belongs to a former \(destination). Remove it, or give another name.")
            }
        }
    }

    /// Removes what was written so far.
    package func discard() {
        removeParts()
        Self.unfinished.withLock { $0[partial] = nil }
    }

    /// Removes what was written so far of every file that doesn't have its name yet: a signal is about to end the process.
    package static func discardAll() {
        unfinished.withLock { files in
            for file in files.values { file.removeParts() }
            files = [:]
        }
    }

    private func removeParts() {
        for suffix in [""] + Self.sidecars { unlink(partial + suffix) }
    }

    private func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("brought to the disk") }
    }

    private func failure(_ verb: String) -> StorageError {
        StorageError(
            .ioError, "\(partial) can't be \(verb): \(String(cString: strerror(errno))).",
            remedy: "Check the folder's permissions and the room on its disk.")
    }
}
