/// What kind of values a column prefers, which decides how it is compared.
package enum ColumnAffinity: Sendable, Hashable, CaseIterable {
    case blob, text, numeric, integer, real

    /// SQLite's rule for declared types.
    package init(declaredType: String) {
        let type = String(decoding: declaredType.utf8.map { (0x61...0x7A).contains($0) ? $0 - 32 : $0 }, as: UTF8.self)
        if type.contains("INT") {
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

/// A column as an evaluator needs to know it.
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
