/// Events on their way to a reader: up to a limit, or a single event that represents all of them.
package struct ChangeEventUpdate: ComposableUpdate {
    package private(set) var events: [ChangeEvent] = []
    /// A change of the schema and the rest are two events.
    private let limit: Int

    package init(limit: Int) { self.limit = max(2, limit) }

    package var weight: Int { events.count }

    package mutating func append(_ next: ChangeEventUpdate) {
        for event in next.events { append(event) }
    }

    mutating func append(_ event: ChangeEvent) {
        events.append(event)
        if events.count > limit { collapse() }
    }

    private mutating func collapse() {
        guard let last = events.last else { return }
        var count: Int? = 0
        var schemaChange: ChangeEvent?
        for event in events {
            switch event {
            case .inserted, .updated, .deleted: count = count.map { $0 + 1 }
            case .bulkChange(_, let affected, _): count = affected.flatMap { affected in count.map { $0 + affected } }
            case .schemaChange: schemaChange = event
            }
        }
        let bulk = ChangeEvent.bulkChange(tableName: last.tableName, affectedCount: count, position: last.position)
        events = schemaChange.map { [$0, bulk] } ?? [bulk]
    }
}
