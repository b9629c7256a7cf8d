import Foundation
import Synchronization

/// Whether a signal is ending the process.
///
/// A child process or a temporary folder, which must not outlive the process, is registered under a lock, and only if `hasBegun` is false
/// under that lock. The signal's handler calls `begin`, and takes the lock afterwards to end what is registered: it misses nothing, and
/// nothing is registered later.
///
/// Isolation: `Sendable`, its state an atomic.
final class ProcessEnd: Sendable {
    /// That of this process.
    static let current = ProcessEnd()

    private let begun = Atomic<Bool>(false)

    var hasBegun: Bool { begun.load(ordering: .acquiring) }

    /// Called when a signal begins to end the process.
    func begin() { begun.store(true, ordering: .releasing) }

    /// Waits for the end of this process if a signal is ending it.
    static func waitIfBegun() {
        if current.hasBegun { wait() }
    }

    /// Waits until the signal has ended this process.
    static func wait() -> Never {
        while true { pause() }
    }
}
