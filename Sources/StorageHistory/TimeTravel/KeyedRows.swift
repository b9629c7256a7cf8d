internal import StorageCore
internal import StorageLog

/// The rows of an entity that a condition on their keys can match, as they were at a position, found without making the
/// table.
///
/// These are rows that exist now and rows that were deleted since, because a row's key never changes. A row without an
/// event since is copied; another one is reconstructed from its own events. The condition has to be evaluated again:
/// more rows may be found, and never fewer.
///
/// A row that another program has deleted without an event isn't found, even if it was inserted again later.
///
/// Not `Sendable`: it is made for one read.
struct KeyedRows {
    /// The rows can't be found this way, or there are too many of them.
    struct Unsupported: Error {}

    /// Rows that have changed, deleted ones included.
    private static let maximumReconstructed = 32
    /// Events of all of these rows. Each is read from a segment of its own, in the worst case.
    private static let maximumEvents = 1_000
    /// Rows that haven't changed, and keys in a list.
    private static let maximumCopied = 4_000
    /// Deleted rows whose keys are compared with the condition.
    private static let maximumTombstones = 50_000

    private let entity: CatalogEntity
    private let condition: RowPredicate
    private let position: Int64
    private let source: Connection
    private let reader: LogReader

    /// - Parameters:
    ///   - entity: An entity that has the same columns now and at the position.
    ///   - predicate: A condition without SQL.
    ///   - source: A connection of the store, inside a read.
    /// - Returns: nil if the condition doesn't restrict the key, if different keys may be equal to the table, or if
    ///   columns were converted.
    init?(of entity: CatalogEntity, where predicate: RowPredicate, at position: Int64, source: Connection) {
        // The log compares keys by their bytes. Inside the commit of a conversion, rows may still lack the new values.
        guard entity.key.allSatisfy({ $0.collation == CatalogColumn.binary }),
            entity.live.allSatisfy({ $0.origin == 0 })
        else { return nil }
        let names = Set(entity.key.map { ExactText($0.name) })
        let restrictions = Self.conjuncts(of: predicate).filter { part in
            part.columns.map { !$0.isEmpty && $0.allSatisfy { names.contains(ExactText($0)) } } ?? false
        }
        guard !restrictions.isEmpty else { return nil }
        self.entity = entity
        condition = .all(restrictions)
        self.position = position
        self.source = source
        reader = LogReader(source)
    }

    /// The conditions that all have to be true.
    private static func conjuncts(of predicate: RowPredicate) -> [RowPredicate] {
        guard case .all(let parts) = predicate else { return [predicate] }
        return parts.flatMap(conjuncts)
    }

    /// Inserts the rows into an empty table, which was created with the SQL of the live one.
    ///
    /// - Throws: ``Unsupported``; `conflict` if the table refuses a row of the past.
    func insert(into target: Connection) throws {
        let keys = try listedKeys()
        // Before any row is reconstructed: there may be too many of them.
        let deleted = try deletedRows(among: keys)
        let names = (entity.live.map(\.stored) + ["_position"]).map(quoted).joined(separator: ", ")
        let select = try liveRows(names, isListed: keys != nil)
        let insert = try TableCopy.insert(select, into: quoted(entity.stored), list: names, target)
        let last = Int32(entity.live.count)
        var (copied, reconstructed, events) = (0, deleted.count, 0)
        while try select.step() {
            // Another program has inserted a row without an event.
            guard case .integer(let position) = ExactValue(select, column: last), position > 0 else {
                throw Unsupported()
            }
            if position > self.position {
                reconstructed += 1
                guard reconstructed <= Self.maximumReconstructed else { throw Unsupported() }
                try insertRow(key(of: select), from: position, with: insert, counting: &events)
            } else {
                copied += 1
                guard copied <= Self.maximumCopied else { throw Unsupported() }
                try TableCopy.copy(select, with: insert)
            }
        }
        for row in deleted { try insertRow(row.key, from: row.last, with: insert, counting: &events) }
    }

    /// The live rows that the condition on the key matches.
    ///
    /// - Parameter isListed: Whether the condition lists the keys, each of which is looked up.
    private func liveRows(_ names: String, isListed: Bool) throws -> PreparedStatement {
        let sql = try PredicateSQL(condition) { name in
            // Of names that Swift considers equal, a condition's columns have only one.
            guard let column = entity.column(named: name), column.keyOrdinal > 0 else { throw Unsupported() }
            return quoted(column.stored)
        }
        let text = "SELECT \(names) FROM \(quoted(entity.stored)) WHERE \(sql.text)"
        if !isListed {
            let plan = try PreparedStatement(source, "EXPLAIN QUERY PLAN \(text)")
            while try plan.step() {
                // All rows would be read.
                if plan.string(3).hasPrefix("SCAN") { throw Unsupported() }
            }
        }
        let select = try PreparedStatement(source, text)
        try select.bind(sql.values)
        return select
    }

    /// The key of a statement's current row.
    private func key(of row: PreparedStatement) -> [ExactValue] {
        let columns = entity.live
        return entity.key.compactMap { part in
            columns.firstIndex { $0.id == part.id }.map { ExactValue(row, column: Int32($0)) }
        }
    }

    /// Inserts a row as it was, if it existed.
    ///
    /// - Parameters:
    ///   - last: The position of its last event.
    ///   - events: The events that were read until now.
    private func insertRow(
        _ key: [ExactValue], from last: Int64, with insert: PreparedStatement, counting events: inout Int
    ) throws {
        guard !key.contains(.null) else { throw Unsupported() }
        let address = RowAddress(entity: entity.id, values: key)
        let columns = Set(entity.live.lazy.filter { $0.keyOrdinal == 0 }.map(\.id))
        var builder = RowImageBuilder(columns: columns)
        var isUpdate = false
        try reader.forEachVersion(from: last) { batch, index in
            events += 1
            guard events <= Self.maximumEvents else { throw Unsupported() }
            // Another program may have changed the row's key, or given it the position of another row's event.
            guard batch.withView({ RowAddress($0, at: index) }) == address else { throw Unsupported() }
            isUpdate = batch.withView { $0.shape(of: index).isUpdate }
            guard batch.header.first + Int64(index) <= position else { return true }
            return builder.add(batch, index, isIgnored: false)
        }
        // The first event of a row that another program has inserted is an update.
        guard !isUpdate || builder.image?.cells.count == columns.count else { throw Unsupported() }
        guard let image = builder.image else { return }
        for (index, column) in entity.live.enumerated() {
            let value = column.keyOrdinal > 0 ? key[column.keyOrdinal - 1] : image.value(of: column)
            value.bind(to: insert, at: Int32(index + 1))
        }
        insert.bind(image.position, at: Int32(entity.live.count + 1))
        try insert.execute()
    }
}

// MARK: Deleted rows

extension KeyedRows {
    private struct Deleted {
        let key: [ExactValue]
        /// The position of the delete.
        let last: Int64
    }

    /// The rows that were deleted since, and whose keys meet the condition.
    ///
    /// - Parameter keys: What ``listedKeys()`` returns.
    private func deletedRows(among keys: Set<[UInt8]>?) throws -> [Deleted] {
        var rows: [Deleted] = []
        func add(_ row: Deleted) throws {
            guard rows.count < Self.maximumReconstructed else { throw Unsupported() }
            rows.append(row)
        }
        let select = try PreparedStatement(
            source,
            """
            SELECT position, key FROM storage_tombstone WHERE entity = ?1 AND position > ?2\
            \(keys == nil ? "" : " AND key = ?3")
            """)
        select.bind(Int64(entity.id), at: 1)
        select.bind(position, at: 2)
        if let keys {
            for key in keys {
                select.bind(blob: key, at: 3)
                if try select.step() { try add(deleted(select)) }
                select.reset()
            }
            return rows
        }
        let evaluator = try PredicateEvaluator(condition, columns: entity.key.map(\.evaluated))
        var count = 0
        while try select.step() {
            count += 1
            guard count <= Self.maximumTombstones else { throw Unsupported() }
            let row = try deleted(select)
            let values = row.key.map(\.value)
            // Values that Swift can't represent exactly aren't evaluated.
            guard values.map({ ExactValue($0) }) != row.key || evaluator.evaluate(values) == true else { continue }
            try add(row)
        }
        return rows
    }

    private func deleted(_ row: PreparedStatement) throws -> Deleted {
        Deleted(key: try KeyCoding.decode(Array(row.bytes(1))), last: row.integer(0))
    }

    /// The keys that the rows can have, as ``KeyCoding`` writes them; nil if the condition doesn't list them.
    private func listedKeys() throws -> Set<[UInt8]>? {
        guard entity.key.count == 1, let values = Self.conjuncts(of: condition).lazy.compactMap(Self.values).first
        else {
            return nil
        }
        guard values.count <= Self.maximumCopied else { throw Unsupported() }
        var keys = values.flatMap { reader.recordedKeys(equalTo: [$0], in: entity) }
        // The log distinguishes these, SQL doesn't.
        if keys.contains([.integer(0)]) { keys += [[.real(0)], [.real(-0.0)]] }
        return Set(keys.map { KeyCoding.encode($0) })
    }

    /// The values of which a column has to equal one; nil if the condition says something else.
    private static func values(of condition: RowPredicate) -> [StorageValue]? {
        switch condition {
        case .comparison(_, .equal, .value(let value), nil), .comparison(_, .same, .value(let value), nil),
            .comparison(_, .equal, .value(let value), .binary), .comparison(_, .same, .value(let value), .binary):
            [value]
        case .among(_, let values): values
        default: nil
        }
    }
}
