internal import CSQLite
internal import StorageCore

/// Reads the tags and notes in one state of a store.
///
/// Not `Sendable`: it belongs to its connection's thread.
package final class TagReader {
    private let log: LogReader
    private var statements: [String: PreparedStatement] = [:]

    package init(_ log: LogReader) { self.log = log }

    package func tag(named name: String) throws -> StorageTag? {
        let select = try statement("SELECT name, position, note, _position FROM storage_tag WHERE name = ?")
        defer { select.reset() }
        select.bind(text: name, at: 1)
        return try select.step() ? try tag(select) : nil
    }

    /// Calls `body` with the tags that point to one of some positions, ordered by position, then by name, until it returns false.
    package func forEachTag(
        in positions: ClosedRange<Int64> = 0...Int64.max, _ body: (StorageTag) throws -> Bool
    ) throws {
        let select = try statement(
            """
            SELECT name, position, note, _position FROM storage_tag WHERE position BETWEEN ? AND ? ORDER BY position, name
            """)
        defer { select.reset() }
        select.bind(positions.lowerBound, at: 1)
        select.bind(positions.upperBound, at: 2)
        while try select.step() { if try !body(tag(select)) { return } }
    }

    /// Calls `body` with the notes of points at some positions, in order, until it returns false.
    package func forEachNote(
        in positions: ClosedRange<Int64> = 0...Int64.max, _ body: (StorageNote) throws -> Bool
    ) throws {
        let select = try statement(
            "SELECT position, text, _position FROM storage_note WHERE position BETWEEN ? AND ? ORDER BY position")
        defer { select.reset() }
        select.bind(positions.lowerBound, at: 1)
        select.bind(positions.upperBound, at: 2)
        while try select.step() {
            let note = StorageNote(
                position: select.integer(0), text: try select.row.text(at: 1), commit: try commit(select.integer(2)))
            if try !body(note) { return }
        }
    }

    package func tags(in positions: ClosedRange<Int64> = 0...Int64.max) throws -> [StorageTag] {
        var tags: [StorageTag] = []
        try forEachTag(in: positions) { tag in
            tags.append(tag)
            return true
        }
        return tags
    }

    package func notes(in positions: ClosedRange<Int64> = 0...Int64.max) throws -> [StorageNote] {
        var notes: [StorageNote] = []
        try forEachNote(in: positions) { note in
            notes.append(note)
            return true
        }
        return notes
    }

    /// The names of all tags, sorted.
    package func names() throws -> [String] {
        let select = try statement("SELECT name FROM storage_tag ORDER BY name")
        defer { select.reset() }
        var names: [String] = []
        while try select.step() { names.append(try select.row.text(at: 0)) }
        return names
    }

    private func tag(_ row: PreparedStatement) throws -> StorageTag {
        StorageTag(
            name: try row.row.text(at: 0), position: row.integer(1),
            note: row.row.isNull(at: 2) ? nil : try row.row.text(at: 2), commit: try commit(row.integer(3)))
    }

    private func commit(_ position: Int64) throws -> CommitInfo {
        guard let batch = try log.batch(containing: position) else {
            throw StorageError.corruptLog("position @\(position) is missing")
        }
        return batch.commit(ofEvent: Int(position - batch.header.first))
    }

    private func statement(_ sql: String) throws -> PreparedStatement {
        if let known = statements[sql] { return known }
        let statement = try PreparedStatement(log.database, sql)
        statements[sql] = statement
        return statement
    }
}

extension StorageError {
    static func noTag(_ name: String) -> StorageError {
        StorageError(
            .notFound, "There is no tag \"\(name)\".",
            remedy: "List the tags (storage.tags(), storagekit tag), or create it first.")
    }
}
