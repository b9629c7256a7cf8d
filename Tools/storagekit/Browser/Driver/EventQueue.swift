import Foundation
import Synchronization

/// Events from other threads for the drawing thread, which waits on a pipe.
///
/// Isolation: `Sendable`, the events behind a mutex.
final class EventQueue: Sendable {
    private let events = Mutex<[BrowserEvent]>([])
    let readEnd: Int32
    let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw CommandError(.unavailable, "No pipe can be opened.", why: String(cString: strerror(errno)))
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
        // A handler of signals must never wait.
        for end in ends { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func add(_ event: BrowserEvent) {
        events.withLock { $0.append(event) }
        var byte: UInt8 = 0
        _ = write(writeEnd, &byte, 1)
    }

    /// Removes and returns the queued events, and the signals.
    func take() -> (events: [BrowserEvent], signals: Set<Int32>) {
        var signals: Set<Int32> = []
        var buffer = [UInt8](repeating: 0, count: 256)
        while case let count = read(readEnd, &buffer, buffer.count), count > 0 {
            signals.formUnion(buffer[..<count].lazy.filter { $0 != 0 }.map { Int32($0) })
        }
        let taken = events.withLock { events in
            defer { events = [] }
            return events
        }
        return (taken, signals)
    }
}
