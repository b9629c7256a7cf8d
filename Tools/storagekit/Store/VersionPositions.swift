import StorageKit

/// The positions of the versions of a scan's rows that pass its filter, newest first, found as they are asked for.
struct VersionPositions {
    private let scan: ChangeScan
    /// The chains of the rows, and the position of each one's next version that passes; nil after the last one.
    private var chains: [(row: RowTarget, versions: VersionOutlines, position: Int64?)] = []

    init(of scan: ChangeScan) throws {
        self.scan = scan
        for row in scan.filter.rows where scan.filter.query.tables?.containsExactly(row.entity.name) ?? true {
            chains.append((row, try VersionOutlines(of: row.key, in: row.entity, scan.store.log), nil))
            try advance(chains.count - 1)
        }
    }

    /// The next position; nil after the last one.
    mutating func next() throws -> Int64? {
        let newest = chains.compactMap(\.position).max()
        // A row may have been named twice.
        for index in chains.indices where newest != nil && chains[index].position == newest { try advance(index) }
        return newest
    }

    private mutating func advance(_ index: Int) throws {
        chains[index].position = nil
        while let (outline, event) = try chains[index].versions.next() {
            let position = outline.header.first + Int64(event)
            guard position > scan.filter.logRange.after else { return }
            guard scan.wants(event, of: outline, row: chains[index].row) else { continue }
            chains[index].position = position
            return
        }
    }
}
