import StorageCore

/// The answer of `explain`: what a query would cost.
///
/// - `history`: The tables of history for which it would read every event.
/// - `events`: How many events these are at most; 0 without such tables.
/// - `steps`: What SQLite does, an ``ExplainRecord/Step`` each.
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
    /// - `parent`: The step that it is a part of; 0 for none.
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
