/// A column's preferred kind of values, which decides how they are compared.
package enum ColumnAffinity: String, Sendable, Hashable, CaseIterable {
    case blob = "BLOB"
    case text = "TEXT"
    case numeric = "NUMERIC"
    case integer = "INTEGER"
    case real = "REAL"

    /// Applies SQLite's rule for declared types. No function of SQLite reports its result, so it is implemented here, and nowhere
    /// else: the catalog stores the affinity of each column.
    ///
    /// - Parameter isStrict: Whether the table is STRICT, where ANY keeps every value as it is; in other tables it is an ordinary
    ///   name, which means NUMERIC.
    package init(declaredType: String, isStrict: Bool = false) {
        let type = String(decoding: declaredType.utf8.map { (0x61...0x7A).contains($0) ? $0 - 32 : $0 }, as: UTF8.self)
        if isStrict, type == "ANY" {
            self = .blob
        } else if type.contains("INT") {
            self = .integer
        } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
            self = .text
        } else if type.isEmpty || type.contains("BLOB") {
            self = .blob
        } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
            self = .real
        } else {
            self = .numeric
        }
    }

    package var isNumeric: Bool { self == .numeric || self == .integer || self == .real }
}

/// The properties of a column that an evaluator needs.
package struct EvaluatedColumn: Sendable {
    package let name: String
    package let affinity: ColumnAffinity
    package let collation: RowPredicate.Collation

    package init(name: String, affinity: ColumnAffinity, collation: RowPredicate.Collation = .binary) {
        self.name = name
        self.affinity = affinity
        self.collation = collation
    }
}
