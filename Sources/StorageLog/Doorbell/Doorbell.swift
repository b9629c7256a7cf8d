internal import CSQLite
internal import Foundation
internal import StorageCore

/// A count that a store's writer increments after each transaction to wake other processes: a number at the beginning of a file
/// of 32 bytes beside the store, on which threads of any process sleep (futex(2)). The writer's ``Acknowledgement`` follows it.
///
/// The writer adds one and wakes all sleeping threads, in one call that never waits. It knows no listeners: a listener registers
/// nowhere, needs only the right to read the file, and leaves nothing behind, however it ends. Going to sleep compares the number
/// with the one that was read before looking at the log, so that no ring is lost between looking and sleeping.
///
/// The number says that there may be commits, never which; extra looks are harmless. Without the file the bell is silent, and
/// listeners have to poll. Systems without futexes have the file all the same, for the acknowledgement in it.
///
/// Isolation: `Sendable`; only the kernel accesses the memory behind the pointer.
final class Doorbell: Sendable {
    /// Sound as `nonisolated(unsafe)`: it never changes, and only the kernel reads or writes through it.
    private nonisolated(unsafe) let memory: UnsafeMutablePointer<UInt32>
    /// Nil if the bell is silent.
    private let descriptor: Int32?
    /// The constant fields of each acknowledgement; nil for a listener.
    private let writing: (durability: StorageConfig.Durability, file: UInt64)?
    static let countSize = MemoryLayout<UInt32>.size
    private static let size = countSize + Acknowledgement.size

    /// Why a wait has ended.
    enum Wake: Equatable {
        case rung
        case timedOut
        /// The bell can't be used any longer.
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

    /// A bell that never rings, to sleep on if there is no other.
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
    /// Returns the bell for the writer of a store, created if necessary with the owner and permissions of the store's file; nil
    /// if that fails.
    static func making(besideStore store: String, durability: StorageConfig.Durability) -> Doorbell? {
        guard let file = Acknowledgement.file(of: store) else { return nil }
        // A pipe or a device of that name must neither block this process nor be written to.
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = open(path(ofStore: store), flags, 0o600)
        guard descriptor >= 0 else { return nil }
        var found = stat()
        if fstat(descriptor, &found) == 0, found.st_size == 0, found.st_mode & S_IFMT == S_IFREG {
            StoreSidecar.share(descriptor, like: store)
            let zeros = [UInt8](repeating: 0, count: size)
            pwrite(descriptor, zeros, size, 0)
        }
        return mapped(descriptor, PROT_READ | PROT_WRITE, writing: (durability, file))
    }

    /// Returns the bell that a store's writer rings; nil if there is none, or if this system can't wait for it.
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

    /// Takes ownership of the descriptor.
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

    /// Whether this is still the bell beside the store. A writer that finds none creates another.
    func isBeside(store: String) -> Bool {
        guard let descriptor else { return false }
        var (mine, there) = (stat(), stat())
        return fstat(descriptor, &mine) == 0 && stat(Self.path(ofStore: store), &there) == 0
            && mine.st_dev == there.st_dev && mine.st_ino == there.st_ino
    }
}

// MARK: Ringing and sleeping

extension Doorbell {
    /// Increments the count and wakes all waiting threads of all processes.
    func ring() { storage_bell_ring(memory) }

    /// Wakes all waiting threads without a commit, for those that should stop listening.
    func disturb() { storage_bell_wake(memory) }

    /// The number of rings, modulo 2³²; nil if the file was truncated. Read through the file, because reading memory that is gone
    /// ends the process.
    var count: UInt32? {
        guard let descriptor else { return 0 }
        var count: UInt32 = 0
        return pread(descriptor, &count, Self.countSize, 0) == Self.countSize ? count : nil
    }

    /// Sleeps for as long as the count equals `seen`, at most for `duration`.
    func wait(while seen: UInt32?, for duration: Duration) -> Wake {
        guard let seen else { return .failed }
        let (seconds, attoseconds) = duration.components
        let nanoseconds = seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue
        switch Int(storage_bell_wait(memory, seen, nanoseconds + attoseconds / 1_000_000_000)) {
        case STORAGE_BELL_WOKEN: return .rung
        // Otherwise memory and file differ, as can happen on a file system shared between machines.
        case STORAGE_BELL_CHANGED: return count == seen ? .failed : .rung
        case STORAGE_BELL_TIMED_OUT: return .timedOut
        default: return .failed
        }
    }
}

// MARK: Acknowledging

extension Doorbell {
    /// Records that everything up to a position is committed. Written through the file, because writing to memory of a truncated
    /// file ends the process.
    ///
    /// - Parameter synchronising: Whether it reaches the disk before this returns.
    func acknowledge(_ position: Int64, synchronising: Bool = false) {
        guard let descriptor, let writing else { return }
        let bytes = Acknowledgement(position: position, durability: writing.durability, file: writing.file).bytes
        // A failure leaves the position unknown, which is allowed.
        pwrite(descriptor, bytes, bytes.count, off_t(Self.countSize))
        if synchronising { fsync(descriptor) }
    }
}
