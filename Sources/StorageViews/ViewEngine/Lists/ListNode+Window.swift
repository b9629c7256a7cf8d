internal import StorageCore
internal import StorageEntities

/// The window on a list and its margins: which of the rows are shown, and when rows beside them are read or given up.
extension ListNode {
    /// The number of margins kept: more than are read at once, so that a window that moves back and forth doesn't read
    /// the same rows repeatedly.
    private static var keptMargins: Int { 3 }

    /// Reads rows at the ends of the run until it covers the window.
    func fetchMissing(_ snapshot: Snapshot, emits: Bool = false) throws {
        if let limit, !reachesEnd, start + rows.count < offset + limit {
            guard let last = rows.lastSort else { throw StaleNode() }
            let missing = offset + limit - start - rows.count
            let (found, asked) = try withMargin { margin in
                let asked = missing + margin
                return (try neighbours(of: last, backwards: false, count: asked, in: snapshot), asked)
            }
            let before = visible
            rows.append(contentsOf: found)
            reachesEnd = found.count < asked
            if emits { show(before) }
        }
        returnToLastPage()
        if start > offset {
            // Only SQLite can compare the rows, so those before the run aren't found by the first one.
            guard sorting != nil else { return try reload(snapshot) }
            guard !rows.isEmpty || reachesEnd else { throw StaleNode() }
            let (found, count) = try withMargin { margin in
                let count = min(start, start - offset + margin)
                return (try neighbours(of: rows.firstSort, backwards: true, count: count, in: snapshot), count)
            }
            guard found.count == count else { throw StaleNode() }
            let before = visible
            rows.prepend(reversed: found)
            start -= count
            if emits { show(before.lowerBound + count..<before.upperBound + count) }
        }
    }

    /// Goes to the last page if the page is behind the last row: another commit may have deleted its rows while the
    /// user turned to it.
    private func returnToLastPage() {
        let count = start + rows.count
        guard spec.isPage, let limit, limit > 0, reachesEnd, offset > 0, offset >= count else { return }
        let before = visible
        offset = max(0, count - 1) / limit * limit
        pending.note()
        show(before)
    }

    /// Reads rows with a margin; without one if that fails, which may be because of a row that isn't shown.
    ///
    /// - Parameter read: Reads the rows that are shown, and as many beside them as the margin has.
    func withMargin<Result>(_ read: (_ margin: Int) throws -> Result) throws -> Result {
        do {
            return try read(spec.margin)
        } catch {
            guard spec.margin > 0, limit != nil || offset > 0 else { throw error }
            return try read(0)
        }
    }

    private func neighbours(
        of sort: [UInt8]?, backwards: Bool, count: Int, in snapshot: Snapshot
    ) throws -> ListRun<Item> {
        guard let sorting else { throw StaleNode() }
        let values = sort.map(sorting.values)
        return try read(
            query(offset: 0, limit: nil).neighbours(of: values, backwards: backwards, limit: count), snapshot)
    }

    /// Gives up rows that lie far from the window.
    func trim() {
        guard let limit else { return }
        let kept = Self.keptMargins * spec.margin
        let excess = start + rows.count - (offset + limit + kept)
        if excess > 0 {
            rows.removeLast(min(excess, rows.count))
            reachesEnd = false
        }
        let early = offset - kept - start
        if early > 0 {
            let count = min(early, rows.count)
            rows.removeFirst(count)
            start += count
        }
    }

    /// Shows another part of the rows.
    package func move(offset: Int, limit: Int?, _ snapshot: Snapshot) throws {
        (self.offset, self.limit) = (offset, limit)
        let span = (limit ?? 0) + spec.margin
        let isNear = isLive && limit != nil && offset >= start - span && offset <= start + rows.count
        guard isNear else { return try reload(snapshot) }
        do {
            try fetchMissing(snapshot)
            trim()
            enqueueWhole()
        } catch {
            // Whatever the error: a row between the old window and the new one may be what can't be read.
            try reload(snapshot)
        }
    }

    /// The part of the run that is shown.
    var visible: Range<Int> {
        let lower = min(max(0, offset - start), rows.count)
        guard let limit else { return lower..<rows.count }
        return lower..<max(lower, min(rows.count, offset + limit - start))
    }

    /// More or fewer rows lie before the run than before.
    func shift(by count: Int) {
        let before = visible
        start += count
        if follows(count) { return }
        show(before)
    }

    /// Whether the window goes along with rows that came or went before it.
    private func follows(_ count: Int) -> Bool {
        guard spec.isAnchored, offset > 0 else { return false }
        offset += count
        pending.note()
        return true
    }

    func insert(_ item: Item, sort: [UInt8], at index: Int) {
        let before = visible
        rows.insert(item, sort: sort, at: index)
        if index <= before.lowerBound {
            if follows(1) { return }
            show(before.lowerBound + 1..<before.upperBound + 1)
        } else if index < before.upperBound {
            enqueue(.insert(item, at: index - before.lowerBound))
            show(before.lowerBound..<before.upperBound + 1)
        } else {
            show(before)
        }
    }

    func remove(at index: Int) {
        let before = visible
        rows.remove(at: index)
        if index < before.lowerBound {
            if follows(-1) { return }
            show(before.lowerBound - 1..<before.upperBound - 1)
        } else if index < before.upperBound {
            enqueue(.remove(at: index - before.lowerBound))
            show(before.lowerBound..<before.upperBound - 1)
        } else {
            show(before)
        }
    }

    /// Enqueues the rows that enter and leave the window at its ends after it has changed.
    private func show(_ before: Range<Int>) {
        let now = visible
        guard before.overlaps(now) else {
            for _ in before { enqueue(.remove(at: 0)) }
            for index in now { enqueue(.insert(rows[index], at: index - now.lowerBound)) }
            return
        }
        for _ in before.lowerBound..<max(before.lowerBound, now.lowerBound) { enqueue(.remove(at: 0)) }
        if now.lowerBound < before.lowerBound {
            for index in (now.lowerBound..<before.lowerBound).reversed() { enqueue(.insert(rows[index], at: 0)) }
        }
        for index in now.upperBound..<max(now.upperBound, before.upperBound) {
            // Backwards, so that earlier indices stay valid.
            let last = before.upperBound - 1 - (index - now.upperBound)
            enqueue(.remove(at: last - now.lowerBound))
        }
        if before.upperBound < now.upperBound {
            for index in before.upperBound..<now.upperBound {
                enqueue(.insert(rows[index], at: index - now.lowerBound))
            }
        }
    }
}
