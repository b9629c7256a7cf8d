internal import StorageLog

extension RebuildReport: CustomStringConvertible {
    /// What was rebuilt, then a line for each of the first differences:
    ///
    /// ```
    /// rebuilt up to @140: posts 30 rows, users 1 row; replaced, 1 row differs
    ///   posts/3 is missing
    /// ```
    public var description: String {
        let tables = rows.sorted { $0.key < $1.key }.map { "\($0) \(ChangeText.number($1, "row"))" }
        var parts = [isSwapped ? "replaced" : "not replaced"]
        if resumedAt > 0 { parts.append("resumed at @\(resumedAt)") }
        if differingRows > 0 {
            parts.append("\(ChangeText.number(differingRows, "row")) \(differingRows == 1 ? "differs" : "differ")")
        }
        for (table, name) in kept.sorted(by: { $0.key < $1.key }) { parts.append("\(table) kept as \(name)") }
        let first = "rebuilt up to @\(position): \(tables.joined(separator: ", ")); \(parts.joined(separator: ", "))"
        let left = differingRows - differences.count
        return ([first] + differences.map { "  \($0)" } + (left > 0 ? ["  and \(left) more"] : []))
            .joined(separator: "\n")
    }
}
