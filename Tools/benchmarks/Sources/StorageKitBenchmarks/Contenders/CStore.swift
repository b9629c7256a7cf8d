import CBaseline

/// A database of the C baseline.
final class CStore {
    private let pointer: OpaquePointer

    /// Opens or creates the database with `synchronous` FULL.
    init(_ path: String) throws {
        pointer = cb_store_open(path)
        try check(cb_store_error(pointer) == nil)
    }

    deinit {
        cb_store_close(pointer)
    }

    func createPeople() throws {
        try check(cb_store_create_people(pointer))
    }

    func upsert(_ people: CPeople, rowsPerTransaction: Int) throws {
        try check(cb_store_upsert_people(pointer, people.pointer, rowsPerTransaction))
    }

    func insert(_ people: CPeople) throws {
        try check(cb_store_insert_people(pointer, people.pointer))
    }

    /// Reads all rows and returns how many there are.
    func readPeople() throws -> Int {
        var count = 0
        var checksum: Int64 = 0
        try check(cb_store_read_people(pointer, &count, &checksum))
        return count
    }

    /// How many of the rows with these keys there are.
    func lookUp(_ keys: [UnsafePointer<CChar>]) throws -> Int {
        var found = 0
        try check(
            keys.withUnsafeBufferPointer { cb_store_look_up_people(pointer, $0.baseAddress!, keys.count, &found) })
        return found
    }

    /// Updates rows one by one, each followed by its report to another thread.
    ///
    /// - Returns: How long after its commit each report was there.
    func observeUpdates(_ keys: [UnsafePointer<CChar>]) throws -> [Duration] {
        var microseconds = [Double](repeating: 0, count: keys.count)
        try check(
            keys.withUnsafeBufferPointer {
                cb_store_observe_updates(pointer, $0.baseAddress!, keys.count, &microseconds)
            })
        return microseconds.map { .microseconds($0) }
    }

    func createTables(of history: CHistory) throws {
        try check(cb_store_create_history_tables(pointer, history.pointer))
    }

    func apply(_ history: CHistory, operationsPerTransaction: Int) throws {
        try check(cb_store_apply_history(pointer, history.pointer, operationsPerTransaction))
    }

    func keepRowVersions(of history: CHistory) throws {
        try check(cb_store_keep_row_versions(pointer, history.pointer))
    }

    func keepJSONAudit(of history: CHistory) throws {
        try check(cb_store_keep_json_audit(pointer, history.pointer))
    }

    func applyWithChangesets(_ history: CHistory, operationsPerTransaction: Int) throws {
        try check(cb_store_apply_history_with_changesets(pointer, history.pointer, operationsPerTransaction))
    }

    func createTables(of rows: CRows) throws {
        try check(cb_store_create_tables(pointer, rows.pointer))
    }

    func insert(_ rows: CRows) throws {
        try check(cb_store_insert_rows(pointer, rows.pointer))
    }

    /// All rows of the users' tables.
    func rows() throws -> CRows {
        let rows = CRows(cb_rows_read(pointer))
        try check(cb_store_error(pointer) == nil)
        return rows
    }

    private func check(_ succeeded: Bool) throws {
        if succeeded { return }
        let reason = cb_store_error(pointer).map { String(cString: $0) } ?? "unknown"
        throw BenchmarkError("The C baseline failed: \(reason).")
    }
}
