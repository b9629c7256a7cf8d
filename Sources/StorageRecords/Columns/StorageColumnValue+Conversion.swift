public import StorageCore
internal import Synchronization

// SQLite converts what a column stores by the affinity that it derives from the column's declared type. A type's values come
// back as they were if the column converts none of them, or if the type reads the same value from the converted one.

extension StorageColumnValue {
    /// Checks that a value of the type comes back from the type's column as it is.
    ///
    /// - Throws: `StorageError` with `invalid-value` for a value that would come back as another.
    @usableFromInline static func checkIsKept(_ value: StorageValue) throws(StorageError) {
        guard let stored = replacement(of: value) else { return }
        throw StorageError(
            .invalidValue, "\(value) of a \(Self.self) would become \(stored) in a column of type \(columnType).",
            remedy: """
                Let \(ConversionProblems.remedy). Convert a column that the store has already with convertColumn \
                before autoSchema.
                """)
    }

    /// The reason why the type's column doesn't keep every value of the type; nil if none is known.
    ///
    /// Only the type knows its values, so it is given texts and numbers that columns convert, and those that it accepts are
    /// checked. A column with a date's or time's name is expected to get dates, whose texts it keeps.
    package static var conversionProblem: String? {
        let type = ObjectIdentifier(Self.self)
        if let known = ConversionProblems.known.withLock({ $0[type] }) { return known }
        let problem = findConversionProblem()
        ConversionProblems.known.withLock { $0[type] = .some(problem) }
        return problem
    }

    private static func findConversionProblem() -> String? {
        let samples: [StorageValue] =
            switch ColumnAffinity(propertyType: columnType) {
            case .blob: []
            case .text: [.integer(7), .real(0.1)]
            case .real: [.text("007"), .text("7.10")] + largeInteger
            case .integer: [.text("007"), .text("7.10")]
            case .numeric: columnType.namesTime ? [] : [.text("007"), .text("7.10")]
            }
        for sample in samples {
            guard let value = try? Self(storageValue: sample).storageValue, let stored = replacement(of: value)
            else { continue }
            return """
                its column of type \(columnType) would store \(value) of a \(Self.self) as \(stored): let \
                \(ConversionProblems.remedy)
                """
        }
        return nil
    }

    /// The first integer that isn't a double, if the type stores integers. One that stores reals may make an integer of them, such as
    /// nanoseconds of seconds, and end the process for a large one.
    private static var largeInteger: [StorageValue] {
        guard case .integer? = try? Self(storageValue: .integer(7)).storageValue else { return [] }
        return [.integer(9_007_199_254_740_993)]
    }

    /// What the type's column stores instead of a value, unless the type reads the same value from it. The zeros count as the
    /// same: only a column without a type keeps -0.0.
    private static func replacement(of value: StorageValue) -> StorageValue? {
        switch (value, columnType) {
        // Most values are of the class that the column is named after.
        case (.null, _), (.blob, _), (.text, "TEXT"), (.integer, "INTEGER"), (.real, "REAL"): return nil
        default: break
        }
        guard let stored = ColumnAffinity(propertyType: columnType).conversion(of: value) else { return nil }
        let found = try? Self(storageValue: stored).storageValue
        if case .real(0) = value, case .real(0)? = found { return nil }
        return found == value ? nil : stored
    }
}

/// What is known of each type: a record's columns may be computed for each row.
private enum ConversionProblems {
    static let remedy =
        "the columnType be TEXT for texts, INTEGER for whole numbers, REAL for others, or BLOB, which converts nothing"
    static let known = Mutex<[ObjectIdentifier: String?]>([:])
}

extension String {
    /// Whether a declared type is one of dates or times, such as `DATETIME` or `timestamp`.
    fileprivate var namesTime: Bool {
        let name = lowercasedASCII
        return name.contains("date") || name.contains("time")
    }
}

extension ColumnAffinity {
    /// The affinity of the column that is created for a property. That of a `Double` is declared without a type, so that it
    /// keeps -0.0.
    package init(propertyType: String) {
        self = propertyType == Double.columnType ? .blob : ColumnAffinity(declaredType: propertyType)
    }
}
