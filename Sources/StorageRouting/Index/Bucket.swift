/// An entry of a condition in a bucket: its node, and what must be true besides the anchors that lead to it.
struct Posting {
    let node: Int32
    let rest: [Condition]
}

/// The postings under one anchor. More than 64 are split by a second anchor.
///
/// Multi-tenant applications have anchors with thousands of conditions each (`tenant = 7 AND …`). Such a bucket becomes
/// an index of its own, by the remaining parts of the conditions.
struct Bucket {
    static let largest = 64
    /// How deep buckets are divided within buckets.
    static let deepest = 4

    /// Most buckets have one posting and take no memory for more.
    private var first: Posting?
    private var more: [Posting] = []
    private(set) var split: PostingIndex?

    var isEmpty: Bool { first == nil && more.isEmpty && split == nil }

    var isSplit: Bool { split != nil }

    mutating func insert(_ posting: Posting, in context: AnchorContext, depth: Int) {
        if let split { return split.insert(posting.node, where: posting.rest, in: context) }
        guard first != nil else {
            first = posting
            return
        }
        more.append(posting)
        // If they can't be split, the next attempt is made when there are twice as many.
        let count = more.count
        if count >= Self.largest, count & (count - 1) == 0, depth < Self.deepest { splitUp(context, depth: depth) }
    }

    private mutating func splitUp(_ context: AnchorContext, depth: Int) {
        let postings = [first].compactMap { $0 } + more
        let divisible = postings.count { Condition.joined(all: $0.rest).branches(context) != nil }
        guard divisible * 2 > postings.count else { return }
        let index = PostingIndex(depth: depth + 1)
        for posting in postings { index.insert(posting.node, where: posting.rest, in: context) }
        first = nil
        more = []
        split = index
    }

    mutating func remove(_ node: Int32, where rest: [Condition], in context: AnchorContext) {
        if let split {
            split.remove(node, where: rest, in: context)
            if split.isEmpty { self.split = nil }
        } else if first?.node == node {
            first = more.popLast()
        } else if let index = more.firstIndex(where: { $0.node == node }) {
            more.swapAt(index, more.count - 1)
            more.removeLast()
        }
    }

    @inline(__always)
    func visit(_ probe: Probe, images: Probe.Images) {
        if let first { probe.found(first.node) }
        guard probe.takes(more.count) else { return }
        for posting in more { probe.found(posting.node) }
        split?.visit(probe, images: images)
    }
}
