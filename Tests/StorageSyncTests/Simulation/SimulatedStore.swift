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
    /// A field that its version of the program doesn't know: it has no column for it. Nil for the newest version.
    private(set) var unknownField: String?

    init(unknownField: String?) { self.unknownField = unknownField }

    /// Another version of the program opens the store: what the remote has is asked for again, now that there is a column for it.
    func upgrade() {
        guard unknownField != nil else { return }
        unknownField = nil
        revision += 1
        record.position = 0
        pulled = [:]
        changes = []
    }

    private func known(_ change: RemoteChange) -> WriteOperation {
        guard let unknownField else { return change.operation }
        switch change.operation {
        case .save(let columns): return .save(columns.filter { $0.key != unknownField })
        case .patch(let columns): return .patch(columns.filter { $0.key != unknownField })
        case .delete: return .delete
        }
    }

    /// What somebody who uses the store sees: what was pulled, and what is pending on top of it.
    var visible: [DocumentID: [String: StorageValue]] {
        rows.values.filter { !$0.isConfirmed }.sorted { $0.position < $1.position }
            .reduce(into: pulled) { $0.apply(operations[$1.position] ?? .delete, to: $1.document) }
    }

    /// A transaction of the application: the change and its row of the outbox.
    /// - Parameter kind: As the outbox knows it, where that isn't what it is.
    func write(
        _ operation: WriteOperation, to document: DocumentID, size: Int, isConditional: Bool,
        as kind: PendingWrite.Kind? = nil
    ) -> PendingWrite {
        head += 1
        var write = PendingWrite(
            position: head, document: document, kind: kind ?? operation.kind, size: size, base: record.position)
        write.isConditional = isConditional
        rows[head] = write
        operations[head] = operation
        return write
    }

    /// The position of the next write.
    var nextPosition: Int64 { head + 1 }

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
            for change in changes { pulled.apply(known(change), to: change.document) }
        }
        for change in transaction.changes {
            changes.append(change)
            pulled.apply(known(change), to: change.document)
        }
        return true
    }

    /// What was pulled, after its position was saved.
    func applyLate(_ changes: [RemoteChange]) {
        for change in changes {
            self.changes.append(change)
            pulled.apply(known(change), to: change.document)
        }
    }

    /// A write that never reaches the outbox.
    func drop(_ position: Int64) { rows[position] = nil }

    /// The outbox is lost, as by those who keep it in memory only.
    func loseOutbox() { rows = rows.filter { $0.value.isConfirmed } }

    /// What was sent as one is by itself again.
    func forgetOrigins() { for position in rows.keys { rows[position]?.origin = nil } }

    func hubWrites(_ origins: [Int64]) -> [HubWrite] {
        origins.compactMap { origin in
            let rows = rows.values.filter { $0.origin == origin }.sorted { $0.position < $1.position }
            guard let first = rows.first, let operation = operations[first.position] else { return nil }
            return HubWrite(
                origin: origin, document: first.document,
                operation: rows.dropFirst().reduce(operation) { $0.followed(by: operations[$1.position] ?? .delete) },
                base: first.base, isConditional: first.isConditional)
        }
    }
}

extension WriteOperation {
    var kind: PendingWrite.Kind {
        switch self {
        case .save: .save
        case .patch: .patch
        case .delete: .delete
        }
    }

    /// This operation and a later one of the same document as one.
    func followed(by later: WriteOperation) -> WriteOperation {
        switch (self, later) {
        case (.save(let columns), .patch(let patch)): .save(columns.merging(patch) { $1 })
        case (.patch(let first), .patch(let second)): .patch(first.merging(second) { $1 })
        default: later
        }
    }

    /// Its columns; none for a deletion.
    var columns: [String: StorageValue] {
        switch self {
        case .save(let columns), .patch(let columns): columns
        case .delete: [:]
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
        HubWrite(origin: origin, document: document, operation: operation, base: base, isConditional: isConditional)
    }

    func withBase(_ base: Int64) -> HubWrite {
        HubWrite(origin: origin, document: document, operation: operation, base: base, isConditional: isConditional)
    }
}
