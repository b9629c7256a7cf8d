internal import Foundation
internal import StorageCore
internal import Synchronization

/// The right to write to a store, held by one process for the writer's life.
///
/// SQLite before 3.51.3 can corrupt a database while one process checkpoints and another commits, so a second writer must be
/// impossible rather than unlikely. The lock is an `flock` on a file beside the store; the kernel releases it when the process
/// ends, however it ends.
///
/// Isolation: `Sendable`, its one state behind a mutex.
package final class WriterLock: Sendable {
    /// Nil once the lock was released.
    private let descriptor: Mutex<Int32?>

    private let path: String
    /// Whether there was no file before.
    package let isFileNew: Bool

    /// - Throws: `busy`, naming the holder, if another writer has the store open.
    package init(store path: String) throws {
        let path = try StoreFileCheck.validated(path)
        let lockPath = path + ".lock"
        isFileNew = access(lockPath, F_OK) != 0
        var descriptor = try Self.taken(lockPath, of: path)
        // If its former holder has removed the file, the next process would take the lock of another.
        while Self.isRemoved(descriptor, from: lockPath) {
            close(descriptor)
            descriptor = try Self.taken(lockPath, of: path)
        }
        self.path = lockPath
        let text = "\(getpid())\n"
        ftruncate(descriptor, 0)
        _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    /// Opens the file, which is created if there is none, and takes the lock.
    private static func taken(_ lockPath: String, of path: String) throws -> Int32 {
        // SQLite creates a store that isn't there yet with these permissions.
        let permissions: mode_t = access(path, F_OK) == 0 ? 0o600 : 0o644
        let descriptor = try opened(lockPath, O_RDWR | O_CREAT, creatingWith: permissions)
        share(descriptor, like: path)
        guard Self.takesLock(descriptor) else {
            defer { close(descriptor) }
            throw Self.busy(path, Self.holder(descriptor))
        }
        return descriptor
    }

    private static func busy(_ path: String, _ holder: Int?) -> StorageError {
        StorageError(
            .busy, "Another writer has the store \(path) open\(holder.map { ", process \($0)" } ?? "").",
            remedy: "Close it there first, or open the store for reading only.")
    }

    /// - Throws: `busy`, naming the holder, if a writer has the store open; `io-error` if that is unknown.
    static func check(isFree path: String) throws {
        if let holder = try holder(of: path) { throw busy(path, holder) }
    }

    /// - Throws: `io-error` if the file can't be opened, or is a pipe or a device.
    private static func opened(
        _ lockPath: String, _ access: Int32, creatingWith permissions: mode_t = 0
    ) throws -> Int32 {
        // Opening a pipe of that name must not block this process.
        let descriptor = open(lockPath, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, permissions)
        guard descriptor >= 0 else { throw failure(lockPath, errno) }
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw StorageError(
                .ioError, "The lock file \(lockPath) isn't a plain file.",
                remedy: "Move it away; the next writer creates a file.")
        }
        return descriptor
    }

    private static func failure(_ lockPath: String, _ code: Int32) -> StorageError {
        var found = stat()
        let exists = lstat(lockPath, &found) == 0
        let remedy =
            switch code {
            case EACCES where exists: "Give \(lockPath) the owner and permissions of the store."
            case ELOOP, EISDIR, ENXIO: "Move \(lockPath) away; the next writer creates a file."
            default: "Check the permissions of \(exists ? lockPath : "the folder")."
            }
        return StorageError(
            .ioError, "The lock file \(lockPath) can't be opened: \(String(cString: strerror(code))).", remedy: remedy)
    }

    /// Lets those who may write to the store take its lock too, whichever user has created the file.
    private static func share(_ descriptor: Int32, like path: String) {
        var found = stat()
        // What is larger than a process id, has other names or belongs to another user isn't a lock of this user.
        guard fstat(descriptor, &found) == 0, found.st_size < largestSize, found.st_nlink == 1,
            found.st_uid == geteuid()
        else { return }
        StoreSidecar.share(descriptor, like: path)
    }

    private static let largestSize = 32

    /// Whether an open file has no name any more.
    private static func isRemoved(_ descriptor: Int32, from path: String) -> Bool {
        var (own, its) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, own.st_nlink == 0 else { return false }
        // Some file systems don't count names.
        return stat(path, &its) != 0 || own.st_dev != its.st_dev || own.st_ino != its.st_ino
    }

    /// Takes the lock. It may be held shared for a moment by ``holder(of:)``, which is no writer: that is waited for, up
    /// to about 100 ms.
    ///
    /// - Returns: Whether it was taken.
    private static func takesLock(_ descriptor: Int32) -> Bool {
        for _ in 0..<20 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            // A writer excludes also this one.
            guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return false }
            flock(descriptor, LOCK_UN)
            usleep(5_000)
        }
        return false
    }

    /// Removes the lock's file, for a path without a store. This ends the lock: another process can take that of a new file from then
    /// on, also one that has the former file open.
    package func removeFile() {
        descriptor.withLock { if $0 != nil { unlink(path) } }
    }

    /// Releases the lock.
    package func release() {
        descriptor.withLock { descriptor in
            if let open = descriptor {
                // Explicitly, because a child process that is just being created holds the file open for another moment.
                flock(open, LOCK_UN)
                close(open)
            }
            descriptor = nil
        }
    }

    /// The process that currently writes to a store; nil if none does. Tested with a shared lock, which is released immediately.
    ///
    /// - Throws: `io-error` if that is unknown, because the lock's file can't be opened; `busy` if the process is unknown.
    package static func holder(of path: String) throws -> Int? {
        // An invalid path has no writer either.
        let path = StoreFileCheck.resolved(path)
        let lockPath = path + ".lock"
        var found = stat()
        if lstat(lockPath, &found) != 0, errno == ENOENT { return nil }
        let descriptor: Int32
        do {
            descriptor = try opened(lockPath, O_RDONLY)
        } catch {
            // A writer may have removed it meanwhile.
            if lstat(lockPath, &found) != 0, errno == ENOENT { return nil }
            throw error
        }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else {
            flock(descriptor, LOCK_UN)
            return nil
        }
        guard errno == EWOULDBLOCK else { throw failure(lockPath, errno) }
        guard let holder = holder(descriptor) else {
            throw StorageError(
                .busy, "A process has the store \(path) open for writing, and \(lockPath) doesn't name it.",
                remedy: "Find it: fuser \(lockPath)")
        }
        return holder
    }

    private static func holder(_ descriptor: Int32) -> Int? {
        var buffer = [UInt8](repeating: 0, count: largestSize)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        return Int(String(decoding: buffer[..<count], as: UTF8.self).filter(\.isNumber))
    }
}
