import StorageCore

/// The answer of `explain`: the cost of a query.
///
/// - `history`: The tables of history for which it would read every event.
/// - `events`: The maximum number of these events; 0 without such tables.
/// - `steps`: The steps of SQLite's plan, an ``ExplainRecord/Step`` each.
struct ExplainRecord: JSONRecord {
    let history: [String]
    let events: Int64
    let steps: [Step]

    func write(to json: inout JSONWriter) throws {
        json.member("history", history)
        json.member("events", events)
        try json.member("steps", steps)
    }

    /// A step of SQLite's plan.
    ///
    /// - `id`: Its number.
    /// - `parent`: The enclosing step; 0 for none.
    /// - `detail`: What is done: `SCAN` reads every row, `SEARCH` finds rows by a key or an index.
    struct Step: JSONRecord {
        let id: Int64
        let parent: Int64
        let detail: String

        func write(to json: inout JSONWriter) {
            json.member("id", id)
            json.member("parent", parent)
            json.member("detail", detail)
        }
    }
}
