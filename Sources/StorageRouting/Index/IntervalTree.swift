/// Intervals of keys that are found by a key within them, in time that grows with the logarithm of their number and
/// with how many are found.
///
/// A treap by lower bounds in which every node knows the highest upper bound below it. Source: Seidel and Aragon,
/// "Randomized Search Trees", 1996, with the augmentation of Cormen et al., "Introduction to Algorithms", 14.3.
struct IntervalTree {
    private struct Node {
        var interval: KeyInterval
        var highest: KeyHead
        var left: Int32 = -1
        var right: Int32 = -1
        var priority: UInt32
        var bucket: Bucket
    }

    private var nodes: [Node] = []
    private var free: [Int32] = []
    private var root: Int32 = -1

    var isEmpty: Bool { root < 0 }

    var splitCount: Int { nodes.count { $0.bucket.isSplit } }

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
        let index: Int32
        if let reused = free.popLast() {
            index = reused
            nodes[Int(index)] = node
        } else {
            index = Int32(nodes.count)
            nodes.append(node)
        }
        root = inserting(index, into: root)
    }

    /// Reports to the probe what lies under all intervals around a key.
    func visit(_ probe: Probe, key: KeyHead, images: Probe.Images) {
        visit(probe, below: root, key: key, images: images)
    }

    private func visit(_ probe: Probe, below index: Int32, key: KeyHead, images: Probe.Images) {
        var index = index
        while index >= 0 {
            let interval = nodes[Int(index)].interval
            guard nodes[Int(index)].highest >= key, !probe.isFull else { return }
            visit(probe, below: nodes[Int(index)].left, key: key, images: images)
            guard interval.lower <= key else { return }
            if key <= interval.upper { nodes[Int(index)].bucket.visit(probe, images: images) }
            index = nodes[Int(index)].right
        }
    }
}

// MARK: The tree

extension IntervalTree {
    private func precedes(_ left: KeyInterval, _ right: KeyInterval) -> Bool {
        left.lower != right.lower ? left.lower < right.lower : left.upper < right.upper
    }

    private func find(_ interval: KeyInterval) -> Int? {
        var index = root
        while index >= 0 {
            let other = nodes[Int(index)].interval
            if other == interval { return Int(index) }
            index = precedes(interval, other) ? nodes[Int(index)].left : nodes[Int(index)].right
        }
        return nil
    }

    private mutating func update(_ index: Int32) {
        let (left, right) = (nodes[Int(index)].left, nodes[Int(index)].right)
        var highest = nodes[Int(index)].interval.upper
        if left >= 0 { highest = max(highest, nodes[Int(left)].highest) }
        if right >= 0 { highest = max(highest, nodes[Int(right)].highest) }
        nodes[Int(index)].highest = highest
    }

    private mutating func inserting(_ new: Int32, into index: Int32) -> Int32 {
        guard index >= 0 else { return new }
        if precedes(nodes[Int(new)].interval, nodes[Int(index)].interval) {
            let left = inserting(new, into: nodes[Int(index)].left)
            nodes[Int(index)].left = left
            if nodes[Int(left)].priority > nodes[Int(index)].priority {
                nodes[Int(index)].left = nodes[Int(left)].right
                nodes[Int(left)].right = index
                update(index)
                update(left)
                return left
            }
        } else {
            let right = inserting(new, into: nodes[Int(index)].right)
            nodes[Int(index)].right = right
            if nodes[Int(right)].priority > nodes[Int(index)].priority {
                nodes[Int(index)].right = nodes[Int(right)].left
                nodes[Int(right)].left = index
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
        let other = nodes[Int(index)].interval
        if other == interval {
            let joined = merged(nodes[Int(index)].left, nodes[Int(index)].right)
            nodes[Int(index)].bucket = Bucket()
            free.append(index)
            return joined
        }
        if precedes(interval, other) {
            nodes[Int(index)].left = removing(interval, from: nodes[Int(index)].left)
        } else {
            nodes[Int(index)].right = removing(interval, from: nodes[Int(index)].right)
        }
        update(index)
        return index
    }

    private mutating func merged(_ left: Int32, _ right: Int32) -> Int32 {
        guard left >= 0 else { return right }
        guard right >= 0 else { return left }
        if nodes[Int(left)].priority > nodes[Int(right)].priority {
            nodes[Int(left)].right = merged(nodes[Int(left)].right, right)
            update(left)
            return left
        }
        nodes[Int(right)].left = merged(left, nodes[Int(right)].left)
        update(right)
        return right
    }
}
