import CSQLite
import StorageLog

/// A commit, and how many of its events passed a filter, by table and operation.
struct CommitEntry {
    struct Counts: Equatable {
        var insert = 0
        var update = 0
        var delete = 0

        mutating func add(_ operation: StorageEvent.Operation) {
            switch operation {
            case .insert: insert += 1
            case .update: update += 1
            case .delete: delete += 1
            }
        }
    }

    let info: CommitInfo
    /// All positions of the commit, whether its events passed or not.
    let positions: ClosedRange<Int64>
    /// The tags that point into the commit, and the notes of points in it, once they were looked up.
    private(set) var tags: [StorageTag] = []
    private(set) var notes: [StorageNote] = []
    private var counts: [UInt32: Counts] = [:]

    init(info: CommitInfo, positions: ClosedRange<Int64>) {
        self.info = info
        self.positions = positions
    }

    mutating func lookUpTags(_ reader: TagReader) throws {
        tags = try reader.tags(in: positions)
        notes = try reader.notes(in: positions)
    }

    mutating func add(_ shape: storage_shape) { counts[shape.entity, default: Counts()].add(shape.kind) }

    /// The counts by table, in the order of their names.
    func changes(_ catalog: Catalog) -> [(table: String, counts: Counts)] {
        // Tables that were dropped and made again share a name.
        var byName: [String: Counts] = [:]
        for (entity, counts) in counts {
            byName[catalog.entity(id: entity)?.name ?? "entity \(entity)", default: Counts()].add(counts)
        }
        return byName.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension CommitEntry.Counts {
    mutating func add(_ other: Self) {
        insert += other.insert
        update += other.update
        delete += other.delete
    }
}

extension ChangeScan {
    /// Hands over the commits with events that pass, until `body` answers false.
    ///
    /// A commit is handed over as soon as its last row of the log was read, so that the first one comes early however
    /// far the next one is.
    func forEachCommit(descending: Bool, _ body: (CommitEntry) throws -> Bool) throws {
        var open: CommitEntry?
        var isStopped = false
        try forEachPart(descending: descending) { batch, part in
            if let done = open, done.info.number != part.info.number {
                open = nil
                isStopped = try !body(done)
                if isStopped { return false }
            }
            guard open != nil || !part.matching.isEmpty else { return true }
            var entry = try open ?? CommitEntry(info: part.info, positions: store.index.positions(of: part, in: batch))
            batch.withView { view in
                for index in part.matching { entry.add(view.shape(of: index)) }
            }
            let goesOn =
                descending
                ? part.events.lowerBound == 0 && batch.beginsInsideCommit
                : part.events.upperBound == batch.count && batch.endsInsideCommit
            open = goesOn ? entry : nil
            if !goesOn { isStopped = try !body(entry) }
            return !isStopped
        }
        if !isStopped, let open { _ = try body(open) }
    }
}
