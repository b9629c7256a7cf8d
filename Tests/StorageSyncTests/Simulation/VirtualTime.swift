/// A clock that moves from one event to the next, and the events to come, in the order of their times.
struct VirtualTime {
    /// When an event happens; what was scheduled first comes first at the same time.
    private struct Turn {
        let time: Int64
        let order: Int

        func precedes(_ other: Turn) -> Bool { time < other.time || time == other.time && order < other.order }
    }

    /// Microseconds.
    private(set) var now: Int64
    private var order = 0
    /// A binary heap, the earliest first. Without the actions, whose copies would be retained.
    private var turns: [Turn] = []
    /// By the order of their turns.
    private var actions: [Int: () -> Void] = [:]

    init(startingAt start: Int64) { now = start }

    mutating func schedule(after delay: Int64, _ action: @escaping () -> Void) {
        order += 1
        actions[order] = action
        turns.append(Turn(time: now + max(0, delay), order: order))
        var child = turns.count - 1
        while child > 0, turns[child].precedes(turns[(child - 1) / 2]) {
            turns.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the next event out and sets the clock to its time.
    /// - Returns: nil where there is none before the end.
    mutating func next(before end: Int64) -> (() -> Void)? {
        guard let first = turns.first, first.time < end else {
            now = max(now, end)
            return nil
        }
        now = first.time
        turns.swapAt(0, turns.count - 1)
        turns.removeLast()
        var parent = 0
        while 2 * parent + 1 < turns.count {
            var least = 2 * parent + 1
            if least + 1 < turns.count, turns[least + 1].precedes(turns[least]) { least += 1 }
            guard turns[least].precedes(turns[parent]) else { break }
            turns.swapAt(parent, least)
            parent = least
        }
        return actions.removeValue(forKey: first.order)
    }
}
