#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import Foundation
    internal import Synchronization

    /// Waits for the signal that a store's writer sends after each commit: the number at the beginning of `FILE.bell`.
    ///
    /// A thread sleeps on the number and calls back when it has changed. It reads the number before it calls back, so a
    /// signal between the following poll and the next sleep isn't missed. Occasionally it wakes without a signal, to
    /// check whether the file exists now. The file is only read.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class StoreBell: Sendable {
        private enum State {
            case idle
            case listening(Mapping?)
            case ended
        }

        /// The mapped file. The number itself is read through the file: access to the memory of a truncated file would
        /// end the process.
        ///
        /// Sound as `@unchecked Sendable`: immutable, and only the kernel uses the pointer's target.
        private final class Mapping: @unchecked Sendable {
            let memory: UnsafeMutablePointer<UInt32>
            private let descriptor: Int32
            private static let fileSize = 32

            init?(_ path: String) {
                guard storage_bell_is_supported() != 0 else { return nil }
                let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                guard descriptor >= 0 else { return nil }
                var found = stat()
                guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_size == Self.fileSize,
                    let memory = mmap(nil, MemoryLayout<UInt32>.size, PROT_READ, MAP_SHARED, descriptor, 0),
                    memory != MAP_FAILED
                else {
                    close(descriptor)
                    return nil
                }
                self.memory = memory.bindMemory(to: UInt32.self, capacity: 1)
                self.descriptor = descriptor
            }

            deinit {
                munmap(memory, MemoryLayout<UInt32>.size)
                close(descriptor)
            }

            var count: UInt32? {
                var count: UInt32 = 0
                return pread(descriptor, &count, 4, 0) == 4 ? count : nil
            }

            func isStill(at path: String) -> Bool {
                var (mine, there) = (stat(), stat())
                return fstat(descriptor, &mine) == 0 && stat(path, &there) == 0 && mine.st_dev == there.st_dev
                    && mine.st_ino == there.st_ino
            }
        }

        private let path: String
        private let onRing: @Sendable () -> Void
        private let state = Mutex(State.idle)
        private static let heartbeat: Duration = .seconds(1)

        init(besideStore store: String, onRing: @escaping @Sendable () -> Void) {
            path = store + ".bell"
            self.onRing = onRing
        }

        deinit { end() }

        /// Starts the thread, which ends soon after ``end()``.
        func begin() {
            let begins = state.withLock { state in
                guard case .idle = state else { return false }
                state = .listening(nil)
                return true
            }
            guard begins else { return }
            let thread = Thread { [weak self] in
                while let interval = self?.prepare() { Self.sleep(interval) }
            }
            thread.name = "sqlite-nio-bell"
            thread.start()
        }

        func end() {
            let mapping = state.withLock { state -> Mapping? in
                defer { state = .ended }
                if case .listening(let mapping) = state { return mapping }
                return nil
            }
            if let mapping { storage_bell_wake(mapping.memory) }
        }

        /// What the thread sleeps on. It retains the bell only while checking it, so that releasing the bell ends the
        /// thread.
        private struct Nap {
            let mapping: Mapping?
            let count: UInt32
        }

        private func prepare() -> Nap? {
            let mapping = state.withLock { state -> Mapping?? in
                guard case .listening(let old) = state else { return .none }
                let mapping = old.flatMap { $0.isStill(at: path) && $0.count != nil ? $0 : nil } ?? Mapping(path)
                state = .listening(mapping)
                return .some(mapping)
            }
            guard let mapping else { return nil }
            // Read before the callback, so that later commits change the number.
            let count = mapping?.count ?? 0
            // Without the file there are no signals; observers then poll by themselves.
            if mapping != nil { onRing() }
            return Nap(mapping: mapping, count: count)
        }

        private static func sleep(_ nap: Nap) {
            let nanoseconds = Int64(heartbeat / .nanoseconds(1))
            guard let mapping = nap.mapping,
                storage_bell_wait(mapping.memory, nap.count, nanoseconds) != Int32(STORAGE_BELL_FAILED)
            else { return Thread.sleep(forTimeInterval: 0.25) }
        }
    }
#endif
