internal import CSQLite
package import StorageCore

/// A row by its primary key, for tables of any kind.
package struct RowAddress: Hashable, Sendable {
    package let entity: UInt32
    /// The key as ``KeyCoding`` writes it.
    package let key: [UInt8]

    package init(entity: UInt32, key: [UInt8]) {
        self.entity = entity
        self.key = key
    }

    package init(entity: UInt32, values: [ExactValue]) {
        self.init(entity: entity, key: KeyCoding.encode(values))
    }

    package init(entity: UInt32, values: [StorageValue]) {
        self.init(entity: entity, key: KeyCoding.encode(values))
    }

    /// The row that an event has changed.
    package init(_ view: EventView, at index: Int) {
        let shape = view.shape(of: index)
        self.init(
            entity: shape.entity,
            key: KeyCoding.encode(view.key(of: index), count: Int(shape.key_count), bytes: view.bytes))
    }

    /// The key, value for value.
    package var values: [ExactValue] {
        // Only bytes from a damaged file aren't a key.
        (try? KeyCoding.decode(key)) ?? []
    }
}

/// A row by SQLite's rowid, which it keeps for the length of a commit, unless it is deleted. Cheaper than its key.
package struct RowidAddress: Hashable, Sendable {
    package let entity: UInt32
    package let rowid: Int64

    package init(entity: UInt32, rowid: Int64) {
        self.entity = entity
        self.rowid = rowid
    }
}
