internal import Synchronization

/// Memory passed from finished windows to the next ones: the system would zero it each time that it is freed and allocated again.
package final class SpareMemory: Sendable {
    private let memory = Mutex<[NetWindow.Memory]>([])

    package init() {}

    package func give(_ more: NetWindow.Memory) { memory.withLock { $0.append(more) } }

    package func take() -> NetWindow.Memory { memory.withLock { $0.popLast() } ?? NetWindow.Memory() }
}
