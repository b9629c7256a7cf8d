/// Intervals of keys that can be looked up by a key within them, in time logarithmic in their number plus the number of
/// matches.
///
/// A treap ordered by lower bounds in which every node stores the highest upper bound below it. Source: Seidel and
/// Aragon, "Randomized Search Trees", 1996, with the augmentation of Cormen et al., "Introduction to Algorithms", 14.3.
struct IntervalTree {
    private struct Node {
        var interval: KeyInterval
        var highest: KeyHead
        var left: Int32 = -1
        var right: Int32 = -1
        var priority: UInt32
        var bucket: Bucket
    }

    private var nodes = SlotArray<Node>()
    private var root: Int32 = -1

    var isEmpty: Bool { root < 0 }

    var splitCount: Int { nodes.slots.count { $0.bucket.isSplit } }

    /// Lets `body` change the bucket of an interval; it is there from now on unless it is left empty.
    mutating func change(_ interval: KeyInterval, _ body: (inout Bucket) -> Void) {
        if let index = find(interval) {
            body(&nodes[index].bucket)
            if nodes[index].bucket.isEmpty { root = removing(interval, from: root) }
            return
        }
        var bucket = Bucket()
        body(&bucket)
        guard !bucket.isEmpty else { return }
        let node = Node(
            interval: interval, highest: interval.upper, priority: .random(in: 0 ... .max), bucket: bucket)
        root = inserting(nodes.insert(node), into: root)
    }

    /// Visits the buckets of all intervals that contain a key.
    func visit(_ probe: Probe, key: KeyHead, images: Probe.Images) {
        visit(probe, below: root, key: key, images: images)
    }

    private func visit(_ probe: Probe, below index: Int32, key: KeyHead, images: Probe.Images) {
        var index = index
        while index >= 0 {
            let interval = nodes[index].interval
            guard nodes[index].highest >= key, !probe.isFull else { return }
            visit(probe, below: nodes[index].left, key: key, images: images)
            guard interval.lower <= key else { return }
            if key <= interval.upper { nodes[index].bucket.visit(probe, images: images) }
            index = nodes[index].right
        }
    }
}

// MARK: The tree

extension IntervalTree {
    private func precedes(_ left: KeyInterval, _ right: KeyInterval) -> Bool {
        left.lower != right.lower ? left.lower < right.lower : left.upper < right.upper
    }

    private func find(_ interval: KeyInterval) -> Int32? {
        var index = root
        while index >= 0 {
            let other = nodes[index].interval
            if other == interval { return index }
            index = precedes(interval, other) ? nodes[index].left : nodes[index].right
        }
        return nil
    }

    private mutating func update(_ index: Int32) {
        let (left, right) = (nodes[index].left, nodes[index].right)
        var highest = nodes[index].interval.upper
        if left >= 0 { highest = max(highest, nodes[left].highest) }
        if right >= 0 { highest = max(highest, nodes[right].highest) }
        nodes[index].highest = highest
    }

    private mutating func inserting(_ new: Int32, into index: Int32) -> Int32 {
        guard index >= 0 else { return new }
        if precedes(nodes[new].interval, nodes[index].interval) {
            let left = inserting(new, into: nodes[index].left)
            nodes[index].left = left
            if nodes[left].priority > nodes[index].priority {
                nodes[index].left = nodes[left].right
                nodes[left].right = index
                update(index)
                update(left)
                return left
            }
        } else {
            let right = inserting(new, into: nodes[index].right)
            nodes[index].right = right
            if nodes[right].priority > nodes[index].priority {
                nodes[index].right = nodes[right].left
                nodes[right].left = index
                update(index)
                update(right)
                return right
            }
        }
        update(index)
        return index
    }

    private mutating func removing(_ interval: KeyInterval, from index: Int32) -> Int32 {
        guard index >= 0 else { return -1 }
        let other = nodes[index].interval
        if other == interval {
            let joined = merged(nodes[index].left, nodes[index].right)
            nodes.remove(index, leaving: Node(interval: other, highest: other.upper, priority: 0, bucket: Bucket()))
            return joined
        }
        if precedes(interval, other) {
            nodes[index].left = removing(interval, from: nodes[index].left)
        } else {
            nodes[index].right = removing(interval, from: nodes[index].right)
        }
        update(index)
        return index
    }

    private mutating func merged(_ left: Int32, _ right: Int32) -> Int32 {
        guard left >= 0 else { return right }
        guard right >= 0 else { return left }
        if nodes[left].priority > nodes[right].priority {
            nodes[left].right = merged(nodes[left].right, right)
            update(left)
            return left
        }
        nodes[right].left = merged(left, nodes[right].left)
        update(right)
        return right
    }
}
