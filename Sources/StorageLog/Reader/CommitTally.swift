package import CSQLite

/// A commit whose matching events are being counted.
package struct CommitTally {
    package let info: CommitInfo
    package let positions: ClosedRange<Int64>
    private var counts: [UInt32: CommitSummary.Counts] = [:]

    package init(info: CommitInfo, positions: ClosedRange<Int64>) {
        self.info = info
        self.positions = positions
    }

    package mutating func add(_ shape: storage_shape) {
        counts[shape.entity, default: CommitSummary.Counts()].add(StorageEvent.Operation(shape))
    }

    /// The counts by table name. A table that was dropped and created again has one count.
    package func summary(_ catalog: Catalog) -> CommitSummary {
        var byName: [ExactText: CommitSummary.Counts] = [:]
        for (entity, counts) in counts {
            let name = catalog.entity(id: entity)?.name ?? "entity \(entity)"
            byName[ExactText(name), default: CommitSummary.Counts()].add(counts)
        }
        let tables = byName.map { CommitSummary.TableCounts(table: $0.key.text, counts: $0.value) }
        return CommitSummary(info: info, positions: positions, tables: tables)
    }
}
