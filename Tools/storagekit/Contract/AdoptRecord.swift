import StorageKit

/// The answer of `adopt`.
///
/// - `dry_run`: Whether nothing was changed.
/// - `database`: The database's file, as it was named.
/// - `store`: The store's file; null if none was named.
/// - `backup`: The copy of the database; null if there is none.
/// - `rows`: The number of recorded rows.
/// - `tables`: A ``AdoptRecord/Table`` each.
/// - `notes`: Further information, as text.
struct AdoptRecord: JSONRecord {
    let plan: AdoptionPlan
    let database: String
    let store: String?
    let backup: String?
    let isDryRun: Bool

    func write(to json: inout JSONWriter) throws {
        json.member("dry_run", isDryRun)
        json.member("database", database)
        json.member("store", store)
        json.member("backup", backup)
        json.member("rows", plan.rows)
        try json.member(
            "tables",
            plan.tables.map {
                Table(
                    name: $0.name, rows: $0.rows, key: $0.key, reason: $0.obstacle?.reason, remedy: $0.obstacle?.remedy)
            })
        json.member("notes", plan.notes)
    }

    /// - `table`: Its name.
    /// - `adopted`: Whether its rows are recorded.
    /// - `rows`: The number of its rows; null if they aren't recorded.
    /// - `key`: The columns of its key.
    /// - `reason`, `remedy`: Why they aren't recorded, and what to do about it; null if they are.
    struct Table: JSONRecord {
        let name: String
        let rows: Int64
        let key: [String]
        let reason: String?
        let remedy: String?

        func write(to json: inout JSONWriter) {
            json.member("table", name)
            json.member("adopted", reason == nil)
            json.member("rows", reason == nil ? rows : nil)
            json.member("key", key)
            json.member("reason", reason)
            json.member("remedy", remedy)
        }
    }
}
