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

    /// - Throws: `busy`, naming the holder, if another writer has the store open.
    package init(store path: String) throws {
        let path = try StoreFileCheck.validated(path)
        let lockPath = path + ".lock"
        let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw StorageError(
                .ioError, "The lock file \(lockPath) can't be opened: \(String(cString: strerror(errno))).",
                remedy: "Check the permissions of the folder.")
        }
        guard Self.takesLock(descriptor) else {
            let holder = Self.holder(descriptor)
            close(descriptor)
            throw StorageError(
                .busy, "Another writer has the store \(path) open\(holder.map { ", process \($0)" } ?? "").",
                remedy: "Close it there first, or open the store for reading only.")
        }
        let text = "\(getpid())\n"
        ftruncate(descriptor, 0)
        _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

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
    package static func holder(of path: String) -> Int? {
        // An invalid path has no writer either.
        let path = (try? StoreFileCheck.validated(path)) ?? path
        let descriptor = open(path + ".lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else {
            flock(descriptor, LOCK_UN)
            return nil
        }
        return holder(descriptor)
    }

    private static func holder(_ descriptor: Int32) -> Int? {
        var buffer = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        return Int(String(decoding: buffer[..<count], as: UTF8.self).filter(\.isNumber))
    }
}
