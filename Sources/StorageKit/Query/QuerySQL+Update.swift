internal import StorageCore
internal import StorageEntities
internal import StorageLog

extension QuerySQL {
    /// Returns an UPDATE that touches only rows in which a value differs, so that an update without a change writes nothing.
    ///
    /// - Parameter stamp: The column that records when a row was changed, and the time to store.
    func update(_ assignments: [StorageAssignment], stamp: (column: String, now: StorageValue)?) throws -> Text? {
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
            sets.append("\(name) = ?")
            differences.append("NOT storage_identical(\(name), ?)")
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
}
