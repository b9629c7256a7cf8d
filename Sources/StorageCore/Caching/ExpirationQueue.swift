internal import Foundation

/// Keys by the time at which they expire, the earliest first: a binary heap.
struct ExpirationQueue<Key: Sendable>: Sendable {
    private typealias Element = (key: Key, time: Date)
    private var heap: [Element] = []

    var count: Int { heap.count }

    mutating func add(_ key: Key, at time: Date) {
        heap.append((key, time))
        var index = heap.count - 1
        while index > 0, heap[index].time < heap[(index - 1) / 2].time {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes and returns the earliest key, if its time has come.
    mutating func next(until now: Date) -> (key: Key, time: Date)? {
        guard let first = heap.first, first.time <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        sink(0)
        return first
    }

    /// Removes all keys for which `isWanted` is false.
    mutating func retain(_ isWanted: (Key, Date) -> Bool) {
        heap.removeAll { !isWanted($0.key, $0.time) }
        for index in (0..<heap.count / 2).reversed() { sink(index) }
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].time < heap[least].time
            {
                least = child
            }
            guard least != index else { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
