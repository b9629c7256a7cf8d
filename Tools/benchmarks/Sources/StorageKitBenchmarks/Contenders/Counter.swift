/// Counts on the thread that reads.
final class Counter: @unchecked Sendable {
    // Sound: written by one read at a time, and read after it has ended.
    private(set) var value = 0
    func add(_ count: Int) { value += count }
}
