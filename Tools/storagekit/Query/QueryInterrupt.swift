import CSQLite
import Foundation
import StorageKit
import Synchronization

/// Makes Ctrl-C end a query and not the program.
///
/// Isolation: the signal handler only reads atomics; SQLite allows its call from a handler.
final class QueryInterrupt: Sendable {
    private static let running = Atomic<UInt>(0)
    private static let wasRaised = Atomic<Bool>(false)

    var isRaised: Bool { Self.wasRaised.load(ordering: .relaxed) }

    init() { Self.wasRaised.store(false, ordering: .relaxed) }

    func during<Result>(_ connection: Connection, _ body: () throws -> Result) rethrows -> Result {
        Self.running.store(UInt(bitPattern: connection.handle), ordering: .relaxed)
        let previous = signal(SIGINT) { _ in
            QueryInterrupt.wasRaised.store(true, ordering: .relaxed)
            if let pointer = OpaquePointer(bitPattern: QueryInterrupt.running.load(ordering: .relaxed)) {
                sqlite3_interrupt(pointer)
            }
        }
        defer {
            Self.running.store(0, ordering: .relaxed)
            signal(SIGINT, previous)
        }
        return try body()
    }
}
