internal import CSQLite
internal import StorageCore
package import StorageHistory
package import StorageLog

/// Runs one history through two versions of a projection, side by side.
///
/// After each commit the digests of both databases are compared, at a cost independent of the size of the tables; if
/// they differ, the commit is undone and applied again event by event. Not `Sendable`: it belongs to the thread of the
/// connection that it reads.
package final class SideBySideReplay {
    private let source: Connection
    private let sides: [ScratchProjection]
    private let shared: [TableDigest.Table]
    private let keys: [String: [String]]
    private let virtual: Set<String>
    private let onlyOld: [String]
    private let onlyNew: [String]

    /// - Parameter source: A connection of the store, inside a read.
    /// - Throws: `invalid-argument` if the two have no table in common.
    package init(
        old: any Projection, new: any Projection, of source: Connection, upcasts: [String: Upcast] = [:]
    ) throws {
        self.source = source
        let catalog = try Catalog.load(source)
        sides = try [old, new].map { try ScratchProjection($0, of: source, catalog: catalog, upcasts: upcasts) }
        let (left, right) = (sides[0].tables, sides[1].tables)
        var shared: [TableDigest.Table] = []
        var keys: [String: [String]] = [:]
        var (onlyOld, onlyNew): ([String], [String]) = ([], [])
        for table in left {
            guard let other = right.first(where: { $0.name == table.name }) else {
                onlyOld.append(table.name)
                continue
            }
            let columns = table.columns.filter(other.columns.contains)
            shared.append(TableDigest.Table(name: table.name, columns: columns))
            keys[table.name] = table.key == other.key ? table.key : columns
            onlyOld += table.columns.filter { !columns.contains($0) }.map { "\(table.name).\($0)" }
            onlyNew += other.columns.filter { !columns.contains($0) }.map { "\(table.name).\($0)" }
        }
        onlyNew += right.map(\.name).filter { name in !left.contains { $0.name == name } }
        guard shared.contains(where: { !$0.columns.isEmpty }) else {
            throw StorageError(
                .invalidArgument, "The two versions of the projection have no table in common to compare.",
                remedy: "Let both make tables of the same names.")
        }
        self.shared = shared.filter { !$0.columns.isEmpty }
        self.keys = keys
        virtual = Set((left + right).filter(\.isVirtual).map(\.name))
        self.onlyOld = onlyOld.sorted()
        self.onlyNew = onlyNew.sorted()
    }

    /// - Parameters:
    ///   - from: Events up to this position are applied without comparing.
    ///   - limit: The most differing rows that are listed.
    ///   - progress: Called with the position reached.
    package func run(
        from: Int64, to: Int64, limit: Int, progress: (Int64) -> Void = { _ in }
    ) throws -> ReplayComparison {
        let reader = LogReader(source)
        let wants = { (entity: UInt32) in self.sides.contains { $0.wants(entity) } }
        let whole = CommitFeed(reader, endsWithCommits: false, wants: wants)
        if from > 0 {
            try whole.run(1...from) { slice, _ in
                try apply(slice)
                progress(slice.positions.upperBound)
            }
        }
        let watched = shared.filter { !virtual.contains($0.name) }
        let digests = try sides.map { side in try side.connected { try TableDigest($0, watched) } }
        var divergence: ReplayComparison.Divergence?
        if digests[0].sum != digests[1].sum {
            divergence = ReplayComparison.Divergence(
                position: from, commit: try commit(at: from, reader), isBeforeRange: true)
        }
        var events = 0
        if from < to {
            var first = from + 1
            var isMarked = false
            var sums = digests.map(\.sum)
            try CommitFeed(reader, wants: wants).run(from + 1...to) { slice, commit in
                events += slice.events.count
                if divergence == nil, !isMarked {
                    try sides.forEach { try $0.beginSavepoint() }
                    sums = digests.map(\.sum)
                    first = slice.events[0].position
                    isMarked = true
                }
                try apply(slice)
                let last = slice.positions.upperBound
                progress(last)
                guard divergence == nil, let commit else { return }
                isMarked = false
                if try areEqual(digests) { return try sides.forEach { try $0.releaseSavepoint() } }
                let position = try locateDivergence(
                    in: first...last, from: sums, digests: digests, reader: reader, wants: wants)
                divergence = ReplayComparison.Divergence(position: position, commit: commit, isBeforeRange: false)
            }
        }
        try zip(sides, digests).forEach { side, digest in try side.connected { _ in digest.stop() } }
        let (rows, count) = try differences(limit)
        return ReplayComparison(
            from: from, to: to, events: events, divergence: divergence, differences: rows, differingRows: count,
            onlyOld: onlyOld, onlyNew: onlyNew)
    }

    private func apply(_ slice: EventSlice) throws {
        for side in sides { try side.apply(slice) }
    }

    private func commit(at position: Int64, _ reader: LogReader) throws -> CommitInfo? {
        guard position > 0, let batch = try reader.batch(containing: position) else { return nil }
        return batch.commit(ofEvent: Int(position - batch.header.first))
    }

    /// Whether both databases are equal. Sums that differ are computed again first: a statement that failed half-way,
    /// and whose error the projection ignored, leaves its rows in them.
    private func areEqual(_ digests: [TableDigest]) throws -> Bool {
        if digests[0].sum == digests[1].sum { return true }
        try zip(sides, digests).forEach { side, digest in try side.connected { _ in try digest.recount() } }
        return digests[0].sum == digests[1].sum
    }

    /// Undoes a commit and applies it again event by event.
    ///
    /// - Returns: The first event after which they differ; the commit's last one if they differ only after the whole
    ///   commit.
    private func locateDivergence(
        in positions: ClosedRange<Int64>, from sums: [UInt64], digests: [TableDigest], reader: LogReader,
        wants: @escaping (UInt32) -> Bool
    ) throws -> Int64 {
        for side in sides { try side.undo(to: positions.lowerBound - 1) }
        zip(digests, sums).forEach { $0.reset(to: $1) }
        var found: Int64?
        try CommitFeed(reader, wants: wants).run(positions) { slice, _ in
            for event in slice.events {
                try apply(EventSlice(event))
                if found == nil, try !areEqual(digests) { found = event.position }
            }
        }
        return found ?? positions.upperBound
    }
}

// MARK: Rows

extension SideBySideReplay {
    /// The rows that differ now.
    private func differences(_ limit: Int) throws -> ([RowDifference], Int) {
        var found: [RowDifference] = []
        var count = 0
        for table in shared.sorted(by: { $0.name < $1.name }) {
            let key = keys[table.name] ?? table.columns
            let names = key + table.columns.filter { !key.contains($0) }
            let sql = RowComparison.select(quoted(table.name), names.map(quoted), keys: key.count)
            let comparison = RowComparison(keyCount: key.count, names: names)
            try sides[0].connected { left in
                try sides[1].connected { right in
                    let (old, new) = (try PreparedStatement(left, sql), try PreparedStatement(right, sql))
                    try comparison.merge(old, with: new) { order in
                        guard let row = comparison.difference(order, from: old, to: new, in: table.name) else {
                            return true
                        }
                        count += 1
                        if found.count < limit { found.append(row) }
                        return true
                    }
                }
            }
        }
        return (found, count)
    }
}

extension RowComparison {
    /// The difference between the current rows of both statements; nil if there is none.
    ///
    /// - Parameter order: The order as reported by ``merge(_:with:_:)``.
    fileprivate func difference(
        _ order: Int, from old: PreparedStatement, to new: PreparedStatement, in table: String
    ) -> RowDifference? {
        func fields(_ statement: PreparedStatement, _ indices: some Sequence<Int>) -> [StorageEvent.Field] {
            indices.map { StorageEvent.Field(column: names[$0], value: statement.row.value(at: Int32($0))) }
        }
        let others = keyCount..<names.count
        switch order {
        case 0:
            let changed = others.filter { !same(old, new, in: Int32($0)) }
            guard !changed.isEmpty else { return nil }
            return RowDifference(
                operation: .update, table: table, key: fields(old, 0..<keyCount), old: fields(old, changed),
                new: fields(new, changed))
        case ..<0:
            return RowDifference(
                operation: .delete, table: table, key: fields(old, 0..<keyCount), old: fields(old, others), new: nil)
        default:
            return RowDifference(
                operation: .insert, table: table, key: fields(new, 0..<keyCount), old: nil, new: fields(new, others))
        }
    }
}
