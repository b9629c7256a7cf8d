import StorageKit

/// A line of `watch`: a step from one page to the next, to be applied in order.
///
/// - `position`: The position that the page reflects after the last step with this position.
/// - `change`: `reset`, `insert`, `update`, `move` or `remove`.
/// - `count`: Of a reset, the number of inserts that follow; the previous rows are discarded.
/// - `at`: The row's index in the page.
/// - `from`: Of a move, its previous index.
/// - `row`: Its values by column; absent for a remove.
struct WatchRecord: JSONRecord {
    enum Step {
        case reset(count: Int)
        case row(kind: String, at: Int, from: Int?, fields: [StorageEvent.Field]?)
    }

    let position: Int64
    let step: Step

    func write(to json: inout JSONWriter) {
        json.member("position", position)
        switch step {
        case .reset(let count):
            json.member("change", "reset")
            json.member("count", count)
        case .row(let kind, let index, let from, let fields):
            json.member("change", kind)
            json.member("at", index)
            if let from { json.member("from", from) }
            guard let fields else { return }
            json.key("row")
            json.beginObject()
            for field in fields { json.member(field.column, field) }
            json.endObject()
        }
    }
}
