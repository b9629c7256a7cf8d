/// Conditions by their anchors: values and prefixes by hash, ranges in a tree, the rest in a list.
///
/// Looking up a row takes a step for each column that some condition is found by, not for each condition.
///
/// Isolation: not `Sendable`; it belongs to a ``Router``.
final class PostingIndex {
    /// What is found by one reading of a column.
    private struct Use {
        let reading: ReadingIndex
        var equals = 0
        var nulls = 0
        /// How many prefixes there are of each length, by rising length.
        var prefixes: [(length: Int, count: Int)] = []
        var intervals = IntervalTree()
        /// The columns that these conditions' subscriptions depend on: an update of other columns affects none of them.
        /// It may be larger than necessary, never smaller.
        var interest = ColumnMask.none

        var isEmpty: Bool { equals == 0 && nulls == 0 && prefixes.isEmpty && intervals.isEmpty }
    }

    private let depth: Int
    private var uses: [Use] = []
    private var buckets: [UInt64: Bucket] = [:]
    /// Conditions without an anchor.
    private var others: [Posting] = []

    init(depth: Int = 0) { self.depth = depth }

    var isEmpty: Bool { uses.isEmpty && buckets.isEmpty && others.isEmpty }
}

// MARK: Coming and going

extension PostingIndex {
    func insert(_ node: Int32, where conditions: [Condition], in context: AnchorContext) {
        guard let branches = Condition.joined(all: conditions).branches(context) else {
            others.append(Posting(node: node, rest: conditions))
            return
        }
        for branch in branches { insert(Posting(node: node, rest: branch.rest), under: branch.anchor, in: context) }
    }

    func insert(_ posting: Posting, under anchor: Anchor, in context: AnchorContext) {
        let use = indexOfUse(of: anchor.reading)
        switch anchor {
        case .equal(_, let hash):
            uses[use].equals += 1
            buckets[hash, default: Bucket()].insert(posting, in: context, depth: depth)
        case .null(_, let hash):
            uses[use].nulls += 1
            buckets[hash, default: Bucket()].insert(posting, in: context, depth: depth)
        case .prefix(_, let length, let hash):
            countPrefix(ofLength: length, by: 1, in: use)
            buckets[hash, default: Bucket()].insert(posting, in: context, depth: depth)
        case .interval(_, let interval):
            uses[use].intervals.change(interval) { $0.insert(posting, in: context, depth: depth) }
        }
    }

    func remove(_ node: Int32, where conditions: [Condition], in context: AnchorContext) {
        guard let branches = Condition.joined(all: conditions).branches(context) else {
            if let index = others.firstIndex(where: { $0.node == node }) {
                others.swapAt(index, others.count - 1)
                others.removeLast()
            }
            return
        }
        for branch in branches { remove(Posting(node: node, rest: branch.rest), under: branch.anchor, in: context) }
    }

    /// Removes a posting that was inserted under the anchor.
    func remove(_ posting: Posting, under anchor: Anchor, in context: AnchorContext) {
        let use = indexOfUse(of: anchor.reading)
        switch anchor {
        case .equal(_, let hash):
            uses[use].equals -= 1
            remove(posting, hash: hash, in: context)
        case .null(_, let hash):
            uses[use].nulls -= 1
            remove(posting, hash: hash, in: context)
        case .prefix(_, let length, let hash):
            countPrefix(ofLength: length, by: -1, in: use)
            remove(posting, hash: hash, in: context)
        case .interval(_, let interval):
            uses[use].intervals.change(interval) { $0.remove(posting.node, where: posting.rest, in: context) }
        }
        if uses[use].isEmpty { uses.remove(at: use) }
    }

    private func remove(_ posting: Posting, hash: UInt64, in context: AnchorContext) {
        buckets[hash]?.remove(posting.node, where: posting.rest, in: context)
        if buckets[hash]?.isEmpty ?? false { buckets[hash] = nil }
    }

    private func indexOfUse(of reading: ReadingIndex) -> Int {
        if let index = uses.firstIndex(where: { $0.reading == reading }) { return index }
        uses.append(Use(reading: reading))
        return uses.count - 1
    }

    private func countPrefix(ofLength length: Int, by step: Int, in use: Int) {
        if let index = uses[use].prefixes.firstIndex(where: { $0.length == length }) {
            uses[use].prefixes[index].count += step
            if uses[use].prefixes[index].count == 0 { uses[use].prefixes.remove(at: index) }
        } else {
            uses[use].prefixes.append((length, step))
            uses[use].prefixes.sort { $0.length < $1.length }
        }
    }

    /// Adds columns that the subscriptions of an indexed condition depend on.
    func widen(_ conditions: [Condition], to columns: ColumnMask, in context: AnchorContext) {
        for branch in Condition.joined(all: conditions).branches(context) ?? [] {
            widen(branch.anchor.reading, to: columns)
        }
    }

    /// Adds columns that subscriptions depend on whose condition is indexed by a reading.
    func widen(_ reading: ReadingIndex, to columns: ColumnMask) {
        uses[indexOfUse(of: reading)].interest.formUnion(columns)
    }
}

// MARK: Looking up

extension PostingIndex {
    /// Reports to the probe every condition that may be true of one of the images.
    func visit(_ probe: Probe, images: Probe.Images) {
        guard probe.takes(others.count) else { return }
        for posting in others { probe.found(posting.node) }
        // As pointers, because each look at a property of a class is checked for others that change it.
        uses.withUnsafeBufferPointer { uses in
            guard let first = uses.baseAddress else { return }
            for index in uses.indices { visit(probe, use: first + index, images: images) }
        }
    }

    private func visit(_ probe: Probe, use: UnsafePointer<Use>, images: Probe.Images) {
        guard images == .both else {
            return visit(probe, use: use, image: images == .old ? .old : .new, images: images)
        }
        // Only the top index is widened; the indexes of split buckets don't keep `interest`.
        if depth == 0, !probe.changed.intersects(use.pointee.interest) { return }
        if probe.changed.intersects(probe.row.columns(of: use.pointee.reading)) {
            visit(probe, use: use, image: .old, images: .old)
            visit(probe, use: use, image: .new, images: .new)
        } else {
            visit(probe, use: use, image: .new, images: .both)
        }
    }

    private func visit(_ probe: Probe, use: UnsafePointer<Use>, image: RowKeys.Image, images: Probe.Images) {
        let reading = use.pointee.reading
        if reading == .words {
            let words = probe.row.words(image)
            for word in 0..<words.count { visit(probe, use: use, key: words[word], images: images) }
            return
        }
        guard let key = probe.row.key(reading, image) else {
            if use.pointee.nulls > 0 { buckets[Anchor.hash(null: reading)]?.visit(probe, images: images) }
            return
        }
        visit(probe, use: use, key: key, images: images)
    }

    private func visit(
        _ probe: Probe, use: UnsafePointer<Use>, key: UnsafeRawBufferPointer, images: Probe.Images
    ) {
        let reading = use.pointee.reading
        // All is taken from the key before a bucket asks for others, which may move it.
        let hash = use.pointee.equals > 0 ? Anchor.hash(equal: key, reading) : 0
        let head = use.pointee.intervals.isEmpty ? .lowest : KeyHead(key)
        let prefixes =
            use.pointee.prefixes.isEmpty
            ? [] : hashes(of: key, reading: reading, lengths: use.pointee.prefixes)
        if use.pointee.equals > 0 { buckets[hash]?.visit(probe, images: images) }
        for prefix in prefixes { buckets[prefix]?.visit(probe, images: images) }
        if !use.pointee.intervals.isEmpty { use.pointee.intervals.visit(probe, key: head, images: images) }
    }

    /// A text's prefixes of the lengths that there are, in one walk.
    private func hashes(
        of key: UnsafeRawBufferPointer, reading: ReadingIndex, lengths: [(length: Int, count: Int)]
    ) -> [UInt64] {
        guard key[0] == ComparisonKey.Kind.text else { return [] }
        var hashes: [UInt64] = []
        var hash = PrefixHash(seed: Anchor.seed(reading, .prefix))
        var length = 0
        for wanted in lengths {
            guard wanted.length < key.count else { break }
            while length < wanted.length {
                length += 1
                hash.combine(key[length])
            }
            hashes.append(hash.finished)
        }
        return hashes
    }
}

// MARK: Looking at itself

extension PostingIndex {
    /// How many buckets were divided by a second anchor.
    var splitCount: Int {
        buckets.values.count(where: \.isSplit) + uses.reduce(0) { $0 + $1.intervals.splitCount }
    }
}
