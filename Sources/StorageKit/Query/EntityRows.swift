internal import GRDB
internal import StorageCore
internal import StorageEntities
internal import StorageLog

/// Entities read from statements, with the related rows that they include.
///
/// SQLite runs in this process, so one prepared statement run for each owner costs little more than one statement for all; and only this way can each
/// owner's order and limit use an index.
struct EntityRows<E: RegisteredEntity> {
    private(set) var entities: [E] = []
    private let inclusions: [any Inclusion<E>]
    private let indices: [Int32]
    /// The values that each entity's related rows are found by, for each inclusion, followed by the values of other columns.
    private(set) var values: [[StorageValue]]

    /// - Parameter columns: Other columns to read the values of.
    /// - Throws: `invalid-name` for a column that isn't there.
    init(_ request: QueryRequest<E>, reading columns: [String] = []) throws {
        let table = EntityTableCache.of(E.Record.self).queryTable
        inclusions = request.inclusions
        indices = try (inclusions.map(\.relation.column) + columns).map { Int32(try table.index(of: $0)) }
        values = Array(repeating: [], count: indices.count)
    }

    /// Appends the current row of a statement whose first columns are those of the entity.
    mutating func append(_ row: RowReader) throws {
        entities.append(try E.Record(reading: row).asEntity())
        for (place, index) in indices.enumerated() { values[place].append(row.value(at: index)) }
    }

    /// Appends all rows of a statement.
    ///
    /// - Returns: The indexes of the added entities.
    mutating func append(_ rows: StatementRows) throws -> Range<Int> {
        let start = entities.count
        if indices.isEmpty {
            entities += try E.Record.entities(reading: rows)
        } else {
            while try rows.next() { try append(rows.row) }
        }
        return start..<entities.count
    }

    /// Reads the rows that the entities include.
    mutating func include(_ db: GRDB.Database) throws {
        for (inclusion, values) in zip(inclusions, values) { try include(inclusion, values, db) }
    }

    private mutating func include<I: Inclusion<E>>(
        _ inclusion: I, _ values: [StorageValue], _ db: GRDB.Database
    ) throws {
        let table = EntityTableCache.of(I.Related.Record.self).queryTable
        var text = try QuerySQL(inclusion.rows(of: .null), of: table).select(limit: inclusion.request.rows.limit)
        var related = try EntityRows<I.Related>(inclusion.request)
        // Several entities may refer to one row.
        var found: [StorageValue: Range<Int>] = [.null: 0..<0]
        for value in values where found[value] == nil {
            text.values[0] = value
            found[value] = try text.run(db) { try related.append($0) }
        }
        try related.include(db)
        for (index, value) in values.enumerated() {
            inclusion.put(Array(related.entities[found[value] ?? 0..<0]), into: &entities[index])
        }
    }
}
