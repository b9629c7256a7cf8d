import StorageCore

@testable import StorageSync

/// What one client has on its disk: it outlives the processes that use it.
final class SimulatedStore {
    /// Counts what was saved: a core that was made before another process has saved doesn't save any more.
    private(set) var revision = 0
    private(set) var record = SyncRecord()
    private(set) var rows: [Int64: PendingWrite] = [:]
    private(set) var operations: [Int64: WriteOperation] = [:]
    private(set) var pulled: [DocumentID: [String: StorageValue]] = [:]
    private var changes: [RemoteChange] = []
    private var head: Int64 = 0

    /// What somebody who uses the store sees: what was pulled, and what is pending on top of it.
    var visible: [DocumentID: [String: StorageValue]] {
        rows.values.filter { !$0.isConfirmed }.sorted { $0.position < $1.position }
            .reduce(into: pulled) { $0.apply(operations[$1.position] ?? .delete, to: $1.document) }
    }

    /// A transaction of the application: the change and its row of the outbox.
    func write(_ operation: WriteOperation, to document: DocumentID, size: Int) -> PendingWrite {
        head += 1
        let write = PendingWrite(position: head, document: document, size: size, base: record.position)
        rows[head] = write
        operations[head] = operation
        return write
    }

    /// - Returns: Whether nobody else has saved since the revision.
    func save(_ transaction: SyncTransaction, at revision: Int) -> Bool {
        guard revision == self.revision else { return false }
        self.revision += 1
        record = transaction.record
        for write in transaction.writes { rows[write.position] = write }
        for position in transaction.removed { rows[position] = nil }
        if let end = transaction.rewind {
            // Those, too, that were written since the core was handed the outbox.
            for (position, row) in rows { rows[position]?.base = min(row.base, end) }
            changes.removeAll { $0.position > end }
            pulled = [:]
            for change in changes { pulled.apply(change.operation, to: change.document) }
        }
        for change in transaction.changes {
            changes.append(change)
            pulled.apply(change.operation, to: change.document)
        }
        return true
    }

    /// What was pulled, after its position was saved.
    func applyLate(_ changes: [RemoteChange]) {
        for change in changes {
            self.changes.append(change)
            pulled.apply(change.operation, to: change.document)
        }
    }

    /// A write that never reaches the outbox.
    func drop(_ position: Int64) { rows[position] = nil }

    /// The outbox is lost, as by those who keep it in memory only.
    func loseOutbox() { rows = rows.filter { $0.value.isConfirmed } }

    func hubWrites(_ positions: [Int64]) -> [HubWrite] {
        positions.compactMap { position in
            guard let row = rows[position], let operation = operations[position] else { return nil }
            return HubWrite(origin: position, document: row.document, operation: operation, base: row.base)
        }
    }
}

extension [DocumentID: [String: StorageValue]] {
    mutating func apply(_ operation: WriteOperation, to document: DocumentID) {
        switch operation {
        case .save(let columns): self[document] = columns
        case .patch(let patch): self[document]?.merge(patch) { _, new in new }
        case .delete: self[document] = nil
        }
    }
}

extension HubWrite {
    func withOrigin(_ origin: Int64) -> HubWrite {
        HubWrite(origin: origin, document: document, operation: operation, base: base)
    }
}
