internal import StorageCore
internal import StorageEntities
internal import StorageLog

extension QuerySQL {
    /// Returns an UPDATE that touches only rows in which a value differs, so that an update without a change writes nothing.
    ///
    /// A part of an optional embedded value is changed only in rows in which that value isn't nil.
    ///
    /// - Parameters:
    ///   - columns: The columns of the table, as the entity declares them.
    ///   - stamp: The column that records when a row was changed, and the time to store.
    func update(
        _ assignments: [StorageAssignment], of columns: [ColumnSchema], stamp: (column: String, now: StorageValue)?
    ) throws -> Text? {
        guard !assignments.isEmpty else { return nil }
        var sets: [String] = []
        var differences: [String] = []
        var values: [StorageValue] = []
        for assignment in assignments {
            let name = try table.column(named: assignment.column)
            guard !table.key.contains(where: { table.columns[$0].name == assignment.column }) else {
                throw StorageError(
                    .invalidArgument, "updateAll can't change the key \"\(assignment.column)\".",
                    remedy: "Delete the rows and save them under their new ids.")
            }
            let differs = "NOT storage_identical(\(name), ?)"
            if let presence = try presence(of: columns[table.index(of: assignment.column)], assignments) {
                sets.append("\(name) = CASE WHEN \(presence) THEN ? ELSE \(name) END")
                differences.append("(\(presence)) AND \(differs)")
            } else {
                sets.append("\(name) = ?")
                differences.append(differs)
            }
            values.append(try assignment.value.get())
        }
        let compared = values
        if let stamp, !assignments.contains(where: { $0.column == stamp.column }) {
            sets.append("\(try table.column(named: stamp.column)) = ?")
            values.append(stamp.now)
        }
        let target = try target()
        let word = target.sql.isEmpty ? " WHERE " : " AND "
        // The query's condition is in parentheses, so that an OR in it doesn't extend beyond.
        let condition =
            target.sql.isEmpty ? "" : " WHERE (" + target.sql.dropFirst(" WHERE ".count) + ")"
        return Text(
            sql:
                "UPDATE \(quoted(table.stored)) SET \(sets.joined(separator: ", "))\(condition)\(word)(\(differences.joined(separator: " OR ")))",
            values: values + target.values + compared)
    }

    /// SQL for whether the optional embedded value of which a column is a part isn't nil; nil for other columns, and if the
    /// update assigns all its parts, and so the value itself.
    ///
    /// - Throws: `invalid-value` for a required part that would be NULL beside one that isn't.
    private func presence(of column: ColumnSchema, _ assignments: [StorageAssignment]) throws -> String? {
        guard !column.parts.isEmpty else { return nil }
        let assigned = assignments.filter { column.parts.contains($0.column) }
        let isWhole = column.parts.allSatisfy { part in assigned.contains { $0.column == part } }
        let isNil = try isWhole && assigned.allSatisfy { try $0.value.get() == .null }
        let isNull = try assigned.contains { try $0.column == column.name && $0.value.get() == .null }
        guard !column.isRequiredPart || !isNull || isNil else {
            throw StorageError(
                .invalidValue,
                "\"\(column.name)\" is a required part of an embedded value, and can't be nil on its own.",
                remedy: "Assign a value to it, or nil to every part: \(column.parts.joined(separator: ", ")).")
        }
        guard !isWhole else { return nil }
        return try column.parts.map { "\(try table.column(named: $0)) IS NOT NULL" }.joined(separator: " OR ")
    }
}
