import StorageKit

/// The answer of `rebuild --dry-run`.
///
/// - `dry_run`: `true`.
/// - `position`: The position up to which tables would be rebuilt.
/// - `tables`: A ``RebuildPlanRecord/Table`` each.
struct RebuildPlanRecord: JSONRecord {
    let plan: RebuildPlan

    func write(to json: inout JSONWriter) throws {
        json.member("dry_run", true)
        json.member("position", plan.head)
        try json.member(
            "tables", plan.tables.map { Table(name: $0.name, rows: $0.rows, resumesAt: $0.resumesAt) })
    }

    /// - `table`: Its name.
    /// - `rows`: Its current number of rows.
    /// - `resumed`: The position after which an interrupted rebuild resumes; 0 if there is none.
    struct Table: JSONRecord {
        let name: String
        let rows: Int64
        let resumesAt: Int64

        func write(to json: inout JSONWriter) {
            json.member("table", name)
            json.member("rows", rows)
            json.member("resumed", resumesAt)
        }
    }
}
