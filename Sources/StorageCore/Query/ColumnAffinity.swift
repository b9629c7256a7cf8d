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
        self = declaredType.isEmpty ? .blob : .numeric
        // The four letters that were read last, as in SQLite's sqlite3AffinityType().
        var letters: UInt32 = 0
        for byte in declaredType.utf8 {
            letters = letters << 8 | UInt32((0x61...0x7A).contains(byte) ? byte - 0x20 : byte)
            switch letters {
            case Word.char, Word.clob, Word.text: self = .text
            case Word.blob: if self == .numeric || self == .real { self = .blob }
            case Word.real, Word.floa, Word.doub: if self == .numeric { self = .real }
            case _ where letters & 0xFF_FFFF == Word.int:
                self = .integer
                return
            default: break
            }
        }
        if isStrict, declaredType.utf8.count == 3, letters == Word.any { self = .blob }
    }

    /// The letters that decide about a declared type, the last one in the lowest byte.
    private enum Word {
        static let int = number("INT")
        static let char = number("CHAR")
        static let clob = number("CLOB")
        static let text = number("TEXT")
        static let blob = number("BLOB")
        static let real = number("REAL")
        static let floa = number("FLOA")
        static let doub = number("DOUB")
        static let any = number("ANY")

        private static func number(_ word: String) -> UInt32 { word.utf8.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    package var isNumeric: Bool { self == .numeric || self == .integer || self == .real }

    /// Returns the value that a column of this affinity stores instead of the given one; nil if it stores the value as it is.
    ///
    /// Follows "Datatypes In SQLite", section 3: the log and the table have the converted value, and what was bound is lost.
    package func conversion(of value: StorageValue) -> StorageValue? {
        let stored: StorageValue =
            switch (self, value) {
            case (.blob, _), (_, .null), (_, .blob), (.text, .text): value
            case (.text, _): SQLiteNumber.text(value)
            case (.real, _):
                switch SQLiteNumber.number(value) {
                case .integer(let whole): .real(Double(whole))
                // A whole number is written to the file as an integer, which has no negative zero.
                case .real(let number): .real(number == 0 ? 0 : number)
                case let other: other
                }
            case (.numeric, _), (.integer, _):
                switch SQLiteNumber.number(value) {
                case .real(let number): Int64(exactly: number).map(StorageValue.integer) ?? .real(number)
                case let other: other
                }
            }
        return stored == value ? nil : stored
    }
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
