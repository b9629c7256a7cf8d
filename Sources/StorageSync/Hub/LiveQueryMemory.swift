internal import StorageCore
internal import Synchronization

/// The memory that the results of all live queries of a hub use.
///
/// Isolation: `Sendable`, its state behind a mutex.
final class LiveQueryMemory: Sendable {
    private let limit: Int
    private let total = Mutex(0)

    init(limit: Int) { self.limit = limit }

    private func add(_ bytes: Int) -> Bool {
        total.withLock { total in
            guard bytes <= 0 || total + bytes <= limit else { return false }
            total += bytes
            return true
        }
    }

    /// The memory of one live query, until it is released.
    final class Share: Sendable {
        let limit: Int
        private let memory: LiveQueryMemory
        private let taken = Mutex(0)

        init(of memory: LiveQueryMemory, limit: Int) { (self.memory, self.limit) = (memory, limit) }

        deinit { _ = memory.add(-taken.withLock { $0 }) }

        /// - Throws: `invalid-query` for a result that is larger than the limit, `overloaded` if there is no room now.
        func set(_ bytes: Int) throws {
            guard bytes <= limit else {
                throw StorageError(
                    .invalidQuery, "The live query's result exceeds \(limit >> 20) MiB.",
                    remedy: "Set a limit, or a lower one.", cause: HubError.resultTooLarge(bytes: limit))
            }
            try taken.withLock { taken in
                guard memory.add(bytes - taken) else {
                    throw StorageError(
                        .overloaded, "The results of live queries use too much memory.", remedy: "Try again later.")
                }
                taken = bytes
            }
        }
    }
}

extension HubError {
    fileprivate static func resultTooLarge(bytes: Int) -> HubError {
        .invalid("The live query's result exceeds \(bytes >> 20) MiB. Set a limit, or a lower one.")
    }
}
