internal import Foundation
internal import StorageCore
internal import Synchronization

/// A file that gets its name only when it is whole: it is made under another name in the same folder, brought to the disk,
/// and then renamed. Whoever is interrupted leaves nothing under the final name.
///
/// Isolation: `Sendable`, without state of its own.
package struct FilePlacement: Sendable {
    /// The final name.
    package let destination: String
    /// Where the file is made.
    package let partial: String
    private let replaces: Bool

    private static let number = Atomic<Int>(0)
    private static let mark = ".partial-"
    private static let sidecars = ["-wal", "-shm", "-journal", ".lock", ".bell"]

    /// - Parameter replacing: Whether a file of that name may be replaced.
    /// - Throws: `conflict` where there is one that may not be.
    package init(_ path: String, replacing: Bool) throws {
        try self.init(checking: path, replacing: replacing)
        removeLeftovers()
    }

    private init(checking path: String, replacing: Bool) throws {
        destination = try StoreFileCheck.validated(path)
        replaces = replacing
        let number = Self.number.add(1, ordering: .relaxed).newValue
        partial = "\(destination)\(Self.mark)\(getpid())-\(number)"
        try checkDestination()
    }

    /// Whether a file could be made there, without touching anything.
    ///
    /// - Throws: What making it would throw at its beginning.
    package static func check(_ path: String, replacing: Bool) throws {
        _ = try FilePlacement(checking: path, replacing: replacing)
    }

    /// - Throws: `conflict` where a name is that of the file that is read: it would be replaced by what is made of it.
    package static func check(_ path: String, isNot source: String) throws {
        var (own, its) = (stat(), stat())
        guard stat(source, &own) == 0, stat(path, &its) == 0, own.st_dev == its.st_dev, own.st_ino == its.st_ino else {
            return
        }
        throw StorageError(
            .conflict, "\(path) is the source file itself.", remedy: "Give the output another name.")
    }

    /// What makes the name impossible. Looked for twice, because making the file takes its time.
    private func checkDestination() throws {
        guard FileManager.default.fileExists(atPath: destination) else { return }
        guard replaces else { throw taken() }
        // A write-ahead log would be taken for that of the new file.
        if let log = Self.log(of: destination) {
            throw StorageError(
                .busy, "\(destination) is in use, or was left in the middle of a change: there is a \(log).",
                remedy: "Close it first, or give another name.")
        }
    }

    /// The file beside a database that holds a part of its content; nil where the database is whole by itself.
    private static func log(of path: String) -> String? {
        ["-wal", "-journal"].map { path + $0 }.first { name in
            var info = stat()
            return stat(name, &info) == 0 && info.st_size > 0
        }
    }

    /// - Throws: `io-error` where a part of what was made lies in a file beside it, which gets no name.
    package func checkIsWhole() throws {
        guard let log = Self.log(of: partial) else { return }
        throw StorageError(
            .ioError, "\(partial) is incomplete: a part of it is still in \(log).",
            remedy: "Check the room on its disk, then try again.")
    }

    private func taken() -> StorageError {
        StorageError(
            .conflict, "There is a file \(destination) already.",
            remedy: "Give another name, or add --force to replace it.")
    }

    private func removeLeftovers() { for path in Self.leftovers(of: destination) { unlink(path) } }

    /// Files that processes which were ended have left behind when they made a file of this name.
    package static func leftovers(of destination: String) -> [String] {
        let folder = (destination as NSString).deletingLastPathComponent
        let prefix = (destination as NSString).lastPathComponent + mark
        // A folder that can't be listed shows when the file is made.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        return names.filter { name in
            guard name.hasPrefix(prefix) else { return false }
            let digits = name.dropFirst(prefix.count).prefix { $0.isNumber }
            guard let process = pid_t(digits) else { return false }
            return kill(process, 0) != 0 && errno == ESRCH
        }.sorted().map { (folder as NSString).appendingPathComponent($0) }
    }

    /// Takes away the names under which a file was made and which it still has beside its own: whoever placed it was ended
    /// between the two.
    static func removeSecondNames(of path: String) {
        let folder = (path as NSString).deletingLastPathComponent
        let prefix = (path as NSString).lastPathComponent + mark
        var own = stat()
        guard stat(path, &own) == 0 else { return }
        // A folder that can't be listed or written to leaves the file with two names, which its opening refuses.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasPrefix(prefix) {
            var its = stat()
            guard stat(folder + "/" + name, &its) == 0, its.st_dev == own.st_dev, its.st_ino == own.st_ino else {
                continue
            }
            unlink(folder + "/" + name)
        }
    }

    /// Brings the file to the disk and gives it its name.
    ///
    /// - Throws: `conflict` or `busy` where the name can't be had, `io-error` where the file isn't whole, or where it has its
    ///   name and that can't be brought to the disk.
    package func place() throws {
        try checkIsWhole()
        try synchronize(partial)
        if replaces {
            let lock = FileManager.default.fileExists(atPath: destination) ? try WriterLock(store: destination) : nil
            defer { lock?.release() }
            try checkDestination()
            forgetFormer()
            guard rename(partial, destination) == 0 else { throw failure("renamed to \(destination)") }
        } else {
            forgetFormer()
            // Unlike a rename, a link never takes the place of a file that has come there meanwhile.
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

    /// What was acknowledged of a former file of this name isn't expected of the new one.
    private func forgetFormer() { unlink(Doorbell.path(ofStore: destination)) }

    /// Removes what was made so far.
    package func discard() {
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
