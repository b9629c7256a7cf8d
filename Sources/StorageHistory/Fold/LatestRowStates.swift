internal import CSQLite
internal import StorageCore
internal import StorageLog

/// Makes a table from the newest image of each row: the log is read backwards, and what a later event has superseded is
/// skipped without touching SQLite.
///
/// Worth it where rows have many versions. Memory holds a key for each row, so there is a limit. Not `Sendable`: it
/// belongs to its connection's thread.
final class LatestRowStates {
    /// There are more rows than memory is spent on; the tables must be made by replaying.
    struct TooManyRows: Error {}

    static let limit = 250_000
    /// A row's known columns are a bit each.
    private static let columnLimit = 64

    private struct Row {
        /// Its number in the collecting table; 0 where it is gone.
        let number: Int64
        /// The columns whose value at the end is known.
        var known: UInt64
        /// Whether no earlier event can add anything.
        var isDone: Bool
    }

    private struct ShapeKey: Hashable {
        let operation: UInt32
        let columns: [UInt32]
    }

    /// What events of one shape say.
    private struct ShapePlan {
        let operation: Int
        /// Places of the table's columns among the event's, and among the entity's.
        let links: [(event: Int, column: Int)]
        let mask: UInt64
    }

    private let database: Connection
    private let entity: CatalogEntity
    private let columns: [CatalogColumn]
    private let keyCount: Int
    private var keys = KeyInterner()
    private var rows: [Row] = []
    private var lastNumber: Int64 = 0
    private var plans: [ShapeKey: ShapePlan] = [:]
    private var inserts: [[Int]: PreparedStatement] = [:]
    private var updates: [[Int]: PreparedStatement] = [:]
    private static let table = "temp.storage_images"

    /// Whether it is cheaper than replaying every event.
    static func pays(_ entity: CatalogEntity, events: Int64, rows: Int64) -> Bool {
        entity.live.count <= columnLimit && rows <= limit && events > rows * 4
    }

    init(_ database: Connection, _ entity: CatalogEntity) throws {
        self.database = database
        self.entity = entity
        keyCount = entity.key.count
        columns = entity.live.filter { $0.keyOrdinal == 0 }
        let definitions =
            entity.key.map { quoted($0.stored) }
            + columns.map { column in
                quoted(column.stored)
                    + (column.fallback == .null ? "" : " DEFAULT \(ScratchTables.literal(column.fallback))")
            } + ["_position"]
        // One that failed may have left it.
        try PreparedStatement(database, "DROP TABLE IF EXISTS \(Self.table)").execute()
        try PreparedStatement(database, "CREATE TEMP TABLE storage_images(\(definitions.joined(separator: ", ")))")
            .execute()
    }

    func wants(_ header: SegmentHeader) -> Bool { header.entities.contains(entity.id) }

    /// Applies the events of a batch up to a position; batches come last first.
    func apply(_ batch: EventBatch, through position: Int64) throws {
        try batch.withView { view in
            let plans = (0..<view.shapeCount).map { plan(view.shapes[$0]) }
            for index in (0..<view.count).reversed() {
                guard batch.header.first + Int64(index) <= position,
                    let plan = plans[Int(view.events[index].shape)]
                else { continue }
                try apply(view, event: index, at: batch.header.first + Int64(index), plan: plan)
            }
        }
    }

    private func apply(_ view: EventView, event index: Int, at position: Int64, plan: ShapePlan) throws {
        let (rowIndex, isNew) = keys.index(of: view.key(of: index), count: keyCount, in: view.bytes)
        if isNew {
            guard rows.count < Self.limit else { throw TooManyRows() }
            if plan.operation == STORAGE_DELETE {
                rows.append(Row(number: 0, known: 0, isDone: true))
            } else {
                lastNumber += 1
                try insert(view, event: index, at: position, plan: plan)
                rows.append(
                    Row(number: lastNumber, known: plan.mask, isDone: plan.operation == STORAGE_INSERT))
            }
            return
        }
        let found = rows[rowIndex]
        if found.isDone { return }
        let missing = plan.mask & ~found.known
        if missing != 0 { try update(row: found.number, from: view, event: index, plan: plan, missing: missing) }
        // A row that was there before says nothing of the one that came after its deletion.
        rows[rowIndex] = Row(
            number: found.number, known: found.known | plan.mask, isDone: plan.operation != STORAGE_UPDATE)
    }

    private func plan(_ shape: storage_shape) -> ShapePlan? {
        guard shape.entity == entity.id else { return nil }
        let ids = (0..<Int(shape.column_count)).map { shape.columns[$0] }
        let key = ShapeKey(operation: shape.operation, columns: ids)
        if let known = plans[key] { return known }
        var links: [(event: Int, column: Int)] = []
        var mask: UInt64 = 0
        for (offset, id) in ids.enumerated() {
            guard let column = columns.firstIndex(where: { $0.id == id }) else { continue }
            links.append((offset, column))
            mask |= 1 << UInt64(column)
        }
        let plan = ShapePlan(operation: Int(shape.operation), links: links, mask: mask)
        if plans.count >= 1_024 { plans.removeAll() }
        plans[key] = plan
        return plan
    }

    /// The values that an event leaves.
    private func newValues(of index: Int, in view: EventView, operation: Int) -> UnsafePointer<storage_value> {
        let values = view.columns(of: index)
        return operation == STORAGE_UPDATE ? values + Int(view.shape(of: index).column_count) : values
    }

    private func insert(_ view: EventView, event index: Int, at position: Int64, plan: ShapePlan) throws {
        let columnIndices = plan.links.map(\.column)
        let statement: PreparedStatement
        if let known = inserts[columnIndices] {
            statement = known
        } else {
            let names =
                (entity.key + columnIndices.map { columns[$0] }).map { quoted($0.stored) } + ["_position", "rowid"]
            let placeholders = names.map { _ in "?" }.joined(separator: ", ")
            statement = try PreparedStatement(
                database, "INSERT INTO \(Self.table)(\(names.joined(separator: ", "))) VALUES (\(placeholders))")
            if inserts.count >= 1_024 { inserts.removeAll() }
            inserts[columnIndices] = statement
        }
        var parameter: Int32 = 1
        let key = view.key(of: index)
        for part in 0..<keyCount {
            statement.bind(key[part], bytes: view.bytes, at: parameter)
            parameter += 1
        }
        let values = newValues(of: index, in: view, operation: plan.operation)
        for link in plan.links {
            statement.bind(values[link.event], bytes: view.bytes, at: parameter)
            parameter += 1
        }
        statement.bind(position, at: parameter)
        statement.bind(lastNumber, at: parameter + 1)
        try statement.execute()
    }

    private func update(
        row number: Int64, from view: EventView, event index: Int, plan: ShapePlan, missing: UInt64
    ) throws {
        // The image before a deletion belongs to another life of the row.
        if plan.operation == STORAGE_DELETE { return }
        let links = plan.links.filter { missing & (1 << UInt64($0.column)) != 0 }
        let statement: PreparedStatement
        if let known = updates[links.map(\.column)] {
            statement = known
        } else {
            let assignments = links.map { "\(quoted(columns[$0.column].stored)) = ?" }.joined(separator: ", ")
            statement = try PreparedStatement(database, "UPDATE \(Self.table) SET \(assignments) WHERE rowid = ?")
            if updates.count >= 1_024 { updates.removeAll() }
            updates[links.map(\.column)] = statement
        }
        let values = newValues(of: index, in: view, operation: plan.operation)
        for (parameter, link) in links.enumerated() {
            statement.bind(values[link.event], bytes: view.bytes, at: Int32(parameter + 1))
        }
        statement.bind(number, at: Int32(links.count + 1))
        try statement.execute()
    }

    /// The columns of the rows, as they stand in SQL.
    private var list: String {
        ((entity.key + columns).map { quoted($0.stored) } + ["_position"]).joined(separator: ", ")
    }

    /// The statement that gives the rows in the order of their keys.
    private var select: String {
        "SELECT \(list) FROM \(Self.table) ORDER BY \(entity.key.map { quoted($0.stored) }.joined(separator: ", "))"
    }

    /// Puts the rows into the table, in the order of their keys, and takes the collecting table away.
    func finish(into table: String) throws {
        try PreparedStatement(database, "INSERT OR ABORT INTO \(table)(\(list)) \(select)").execute()
        try discard()
    }

    func discard() throws {
        inserts = [:]
        updates = [:]
        try PreparedStatement(database, "DROP TABLE IF EXISTS \(Self.table)").execute()
    }
}
