internal import GRDB
package import StorageCore

extension StorageEngine {
    /// Creates a tag, or changes one.
    ///
    /// - Parameters:
    ///   - note: The new note; empty removes it, nil leaves it unchanged.
    ///   - moves: Whether to move a tag that points elsewhere.
    /// - Throws: `invalid-name`; `not-found` for the point; `conflict` if the tag points elsewhere and isn't moved.
    package func tag(
        _ name: String, at point: StoragePoint, note: String? = nil, moves: Bool = false, metadata: CommitMetadata,
        isDryRun: Bool = false
    ) async throws -> TagReport {
        try TagName.validate(name)
        let position = try await taggedPosition(of: point)
        return try await changing(metadata, isDryRun: isDryRun) { writer in
            let known = try writer.mark("SELECT position, note FROM storage_tag WHERE name = ?", .text(name))
            let text = note.map { $0.isEmpty ? nil : $0 } ?? known?.text
            if let known, known.position == position, known.text.map(ExactText.init) == text.map(ExactText.init) {
                return (.none, position)
            }
            if let known, known.position != position, !moves {
                throw StorageError(
                    .conflict, "There is a tag \"\(name)\" already, at @\(known.position).",
                    remedy: "Choose another name, or have it moved (moving: true, --force).")
            }
            try writer.annotate(
                """
                INSERT INTO storage_tag(name, position, note, _position) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT(name) DO UPDATE SET position = ?2, note = ?3, _position = ?4
                """,
                .text(name), .integer(position), text.map { .text($0) } ?? .null, .integer(writer.nextPosition))
            guard let known else { return (.made, position) }
            if known.position != position { return (.moved(from: known.position), position) }
            return (.annotated(isReplacing: known.text != nil), position)
        }
    }

    /// Deletes a tag. The tagged data stays unchanged, and the log keeps the tag's history.
    ///
    /// - Throws: `not-found`.
    package func removeTag(
        _ name: String, metadata: CommitMetadata, isDryRun: Bool = false
    ) async throws -> TagReport {
        try await changing(metadata, isDryRun: isDryRun) { writer in
            guard let known = try writer.mark("SELECT position, note FROM storage_tag WHERE name = ?", .text(name))
            else { throw StorageError.noTag(name) }
            try writer.annotate("DELETE FROM storage_tag WHERE name = ?", .text(name))
            return (.removed, known.position)
        }
    }

    /// Sets the note of a point, replacing an earlier one; nil deletes the note.
    ///
    /// - Throws: `not-found` for the point, or if there is no note to delete; `invalid-value` for empty text.
    package func note(
        _ text: String?, at point: StoragePoint, metadata: CommitMetadata, isDryRun: Bool = false
    ) async throws -> TagReport {
        if text?.isEmpty == true {
            throw StorageError(.invalidValue, "A note can't be empty.", remedy: "Delete it instead.")
        }
        let position = try await taggedPosition(of: point)
        return try await changing(metadata, isDryRun: isDryRun) { writer in
            let known = try writer.mark(
                "SELECT position, text FROM storage_note WHERE position = ?", .integer(position))
            guard let text else {
                guard known != nil else {
                    throw StorageError(
                        .notFound, "There is no note at @\(position).", remedy: "List the notes.")
                }
                try writer.annotate("DELETE FROM storage_note WHERE position = ?", .integer(position))
                return (.removed, position)
            }
            if let known, known.text.map(ExactText.init) == ExactText(text) { return (.none, position) }
            try writer.annotate(
                """
                INSERT INTO storage_note(position, text, _position) VALUES (?1, ?2, ?3)
                ON CONFLICT(position) DO UPDATE SET text = ?2, _position = ?3
                """,
                .integer(position), .text(text), .integer(writer.nextPosition))
            return (known == nil ? .made : .annotated(isReplacing: true), position)
        }
    }

    /// A point in the past doesn't change, so it needn't be resolved inside the commit.
    private func taggedPosition(of point: StoragePoint) async throws -> Int64 {
        try await read { db in
            let connection = try db.connection
            return try LogReader(connection).taggedPosition(of: point)
        }
    }

    private func changing(
        _ metadata: CommitMetadata, isDryRun: Bool,
        _ body: @escaping @Sendable (LogWriter) throws -> (TagReport.Change, Int64)
    ) async throws -> TagReport {
        let (outcome, receipt) = try await commit(metadata, isDryRun: isDryRun) { writer, _ in try body(writer) }
        guard let (change, position) = outcome else { throw StorageError.closed() }
        return TagReport(change: change, position: position, receipt: receipt)
    }
}

extension LogWriter {
    /// The position and text of a tag or note.
    fileprivate func mark(_ sql: String, _ key: StorageValue) throws -> (position: Int64, text: String?)? {
        let select = try statement(sql)
        defer { select.reset() }
        try select.writer.bind(key, at: 1)
        guard try select.step() else { return nil }
        return (select.integer(0), select.row.isNull(at: 1) ? nil : try select.row.text(at: 1))
    }

    /// Changes a tag, a note or an operation by a statement with values for its parameters, in their order.
    func annotate(_ sql: String, _ values: StorageValue...) throws {
        let statement = try statement(sql)
        try statement.bind(values)
        try annotating { try statement.execute() }
    }
}
