/// A clock that goes on from one event to the next, and the events to come, in the order of their times.
struct VirtualTime {
    private struct Event {
        let time: Int64
        let order: Int
        let action: () -> Void
    }

    /// Microseconds.
    private(set) var now: Int64
    private var order = 0
    /// A binary heap, the earliest first.
    private var events: [Event] = []

    init(startingAt start: Int64) { now = start }

    mutating func schedule(after delay: Int64, _ action: @escaping () -> Void) {
        order += 1
        events.append(Event(time: now + max(0, delay), order: order, action: action))
        var child = events.count - 1
        while child > 0, precedes(child, (child - 1) / 2) {
            events.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the next event out and sets the clock to its time.
    /// - Returns: nil where there is none before the end.
    mutating func next(before end: Int64) -> (() -> Void)? {
        guard let first = events.first, first.time < end else {
            now = max(now, end)
            return nil
        }
        now = first.time
        events.swapAt(0, events.count - 1)
        events.removeLast()
        var parent = 0
        while true {
            let least = [2 * parent + 1, 2 * parent + 2].filter { $0 < events.count }
                .reduce(parent) { precedes($1, $0) ? $1 : $0 }
            guard least != parent else { return first.action }
            events.swapAt(parent, least)
            parent = least
        }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        (events[left].time, events[left].order) < (events[right].time, events[right].order)
    }
}
