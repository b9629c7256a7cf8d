public import StorageKit
public import StorageLog

extension Storage {
    /// Returns every event of users' rows, oldest first, for stores that are small enough for a test.
    ///
    /// ```swift
    /// let events = try await storage.allEvents()
    /// assert(events.map(\.operation) == [.insert, .update])
    /// ```
    ///
    /// - Throws: ``StorageError`` with `closed`.
    public func allEvents(_ query: LogQuery = LogQuery()) async throws -> [StorageEvent] {
        var events: [StorageEvent] = []
        for try await event in log.events(query) { events.append(event) }
        return events
    }

    /// Returns the log as text, one line for each event: `insert users/1`, `update users/1 name`.
    ///
    /// - Throws: ``StorageError`` with `closed`.
    public func logText() async throws -> [String] {
        try await allEvents().map { event in
            let key = event.key.map { field in
                if case .text(let text) = field.value { return text }
                return "\(field.value)"
            }
            let columns = event.operation == .update ? " " + (event.new ?? []).map(\.column).joined(separator: " ") : ""
            return "\(event.operation.rawValue) \(event.table)/\(key.joined(separator: ","))\(columns)"
        }
    }
}
