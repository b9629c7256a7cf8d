internal import CSQLite
internal import Foundation
internal import StorageCore

/// What the writer of a store rings after each transaction, so that other processes wake up: a number at the beginning of a
/// file of 32 bytes beside the store, which threads of any process sleep on (futex(2)). Behind it stands the writer's
/// ``Acknowledgement``.
///
/// The writer adds one and wakes whoever sleeps, in one call that never waits. It knows nobody: who listens enters nothing
/// anywhere, needs no more than the right to read the file, and leaves nothing behind, however it ends. Going to sleep compares the
/// number with the one that was seen before looking, so that no ring falls between looking and sleeping.
///
/// The number says that there may be commits, never which; it is right to look too often. Where there is no such file the
/// bell is silent, and who wants to know has to look now and then. On systems without such sleepers there is the file all the
/// same, for what stands behind the number.
///
/// Isolation: `Sendable`; only the kernel touches what the pointer leads to.
final class Doorbell: Sendable {
    /// Sound as `nonisolated(unsafe)`: it never changes, and nobody reads or writes through it but the kernel.
    private nonisolated(unsafe) let memory: UnsafeMutablePointer<UInt32>
    /// Nil where the bell is silent.
    private let descriptor: Int32?
    /// What the writer writes with each acknowledgement; nil where it only listens.
    private let writing: (durability: StorageConfig.Durability, file: UInt64)?
    static let countSize = MemoryLayout<UInt32>.size
    private static let size = countSize + Acknowledgement.size

    /// Why somebody sleeps no more.
    enum Wake: Equatable {
        case rung
        case timedOut
        /// The bell is of no use any more.
        case failed
    }

    private init(
        _ memory: UnsafeMutablePointer<UInt32>, _ descriptor: Int32?,
        writing: (durability: StorageConfig.Durability, file: UInt64)?
    ) {
        self.memory = memory
        self.descriptor = descriptor
        self.writing = writing
    }

    /// A bell that nobody rings, to sleep on where there is no other.
    init() {
        memory = .allocate(capacity: 1)
        memory.initialize(to: 0)
        descriptor = nil
        writing = nil
    }

    deinit {
        if let descriptor {
            munmap(memory, Self.countSize)
            close(descriptor)
        } else {
            memory.deallocate()
        }
    }

    static func path(ofStore path: String) -> String { path + ".bell" }

    var isSilent: Bool { descriptor == nil }
}

// MARK: The file

extension Doorbell {
    /// The bell for the writer of a store, made if need be with the owner and the permissions of the store's file; nil where that
    /// can't be.
    static func making(besideStore store: String, durability: StorageConfig.Durability) -> Doorbell? {
        guard let file = Acknowledgement.file(of: store) else { return nil }
        // A pipe or a device of that name must neither hold us up nor be written to.
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = open(path(ofStore: store), flags, 0o600)
        guard descriptor >= 0 else { return nil }
        var found = stat()
        if fstat(descriptor, &found) == 0, found.st_size == 0, found.st_mode & S_IFMT == S_IFREG {
            var model = stat()
            if stat(store, &model) == 0 {
                fchmod(descriptor, model.st_mode & 0o666)
                // Only root makes files for others.
                if geteuid() == 0 { fchown(descriptor, model.st_uid, model.st_gid) }
            }
            let zeros = [UInt8](repeating: 0, count: size)
            pwrite(descriptor, zeros, size, 0)
        }
        return mapped(descriptor, PROT_READ | PROT_WRITE, writing: (durability, file))
    }

    /// The bell that the writer of a store rings; nil where there is none that can be heard.
    static func finding(besideStore store: String) -> Doorbell? {
        guard storage_bell_is_supported() != 0 else { return nil }
        return openForReading(besideStore: store).flatMap { mapped($0, PROT_READ) }
    }

    static func openForReading(besideStore store: String) -> Int32? {
        let descriptor = open(path(ofStore: store), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        guard isBell(descriptor) else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// A file of another size isn't a bell, whatever its name is.
    private static func isBell(_ descriptor: Int32) -> Bool {
        var found = stat()
        return fstat(descriptor, &found) == 0 && found.st_mode & S_IFMT == S_IFREG && found.st_size == size
    }

    /// Takes over the descriptor.
    private static func mapped(
        _ descriptor: Int32, _ protection: Int32,
        writing: (durability: StorageConfig.Durability, file: UInt64)? = nil
    ) -> Doorbell? {
        guard isBell(descriptor), let memory = mmap(nil, countSize, protection, MAP_SHARED, descriptor, 0),
            memory != MAP_FAILED
        else {
            close(descriptor)
            return nil
        }
        return Doorbell(memory.bindMemory(to: UInt32.self, capacity: 1), descriptor, writing: writing)
    }

    /// Whether this is still the bell that stands beside the store. A writer that finds none makes another.
    func isBeside(store: String) -> Bool {
        guard let descriptor else { return false }
        var (mine, there) = (stat(), stat())
        return fstat(descriptor, &mine) == 0 && stat(Self.path(ofStore: store), &there) == 0
            && mine.st_dev == there.st_dev && mine.st_ino == there.st_ino
    }
}

// MARK: Ringing and sleeping

extension Doorbell {
    /// Wakes whoever sleeps, in whatever process.
    func ring() { storage_bell_ring(memory) }

    /// Wakes all waiting threads without a commit: for those that are to stop listening.
    func disturb() { storage_bell_wake(memory) }

    /// How often the bell was rung, modulo 2³²; nil where the file was cut. Read through the file, because reading memory that is gone
    /// ends the process.
    var count: UInt32? {
        guard let descriptor else { return 0 }
        var count: UInt32 = 0
        return pread(descriptor, &count, Self.countSize, 0) == Self.countSize ? count : nil
    }

    /// Sleeps, for as long as the count is the one that was seen.
    func wait(while seen: UInt32?, for duration: Duration) -> Wake {
        guard let seen else { return .failed }
        let (seconds, attoseconds) = duration.components
        let nanoseconds = seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue
        switch Int(storage_bell_wait(memory, seen, nanoseconds + attoseconds / 1_000_000_000)) {
        case STORAGE_BELL_WOKEN: return .rung
        // Else memory and file differ, as they may where a file system is shared between machines.
        case STORAGE_BELL_CHANGED: return count == seen ? .failed : .rung
        case STORAGE_BELL_TIMED_OUT: return .timedOut
        default: return .failed
        }
    }
}

// MARK: Acknowledging

extension Doorbell {
    /// Writes down that everything up to a position is committed. It is written through the file, because memory of a file that was
    /// cut ends the process.
    ///
    /// - Parameter synchronising: Whether it comes to the disk before this returns.
    func acknowledge(_ position: Int64, synchronising: Bool = false) {
        guard let descriptor, let writing else { return }
        let bytes = Acknowledgement(position: position, durability: writing.durability, file: writing.file).bytes
        // Where that fails nothing is known, which is allowed.
        pwrite(descriptor, bytes, bytes.count, off_t(Self.countSize))
        if synchronising { fsync(descriptor) }
    }
}
