internal import StorageCore
internal import StorageLog

extension EntityDefinition {
    /// - Throws: `invalid-name` if an entity can't have this name.
    func validateName() throws {
        guard !ReservedNames.isRefused(stored) else {
            throw StorageError(
                .invalidName, "An entity can't be named \"\(name)\".",
                remedy: ReservedNames.remedy)
        }
    }

    /// Checks columns that the store doesn't have yet.
    ///
    /// - Throws: `schema-mismatch` for a property whose values the column would change.
    func checkCreation(of columns: [Column]) throws {
        for case let problem? in columns.map(\.schema.creationProblem) {
            throw StorageError.undeclarable(name, problem)
        }
    }

    /// - Throws: `schema-mismatch` for a property that no column can be declared for.
    func checkProblems() throws {
        for case let problem? in columns.map(\.schema.problem) { throw StorageError.undeclarable(name, problem) }
    }

    func validate() throws {
        for name in [name, stored] + columns.flatMap({ [$0.schema.name, $0.stored] }) {
            guard !name.utf8.contains(0) else {
                throw StorageError(.invalidName, "The name \"\(name)\" contains NUL.", remedy: "Remove it.")
            }
            guard name.utf8.count <= Limits.nameBytes else {
                throw StorageError(
                    .limitExceeded, "The name \"\(name.prefix(40))…\" is longer than \(Limits.nameBytes) bytes.",
                    remedy: "Choose a shorter name.")
            }
        }
        try validateName()
        for column in columns where column.schema.notNull && column.schema.reference?.onDelete == .setNull {
            throw StorageError(
                .schemaMismatch,
                "\"\(name)\".\"\(column.schema.name)\" must have a value, and can't become NULL when the row that it refers to is deleted.",
                remedy: "Make the property optional, or choose another delete rule.")
        }
        try checkProblems()
        var seen: Set<ExactText> = ["_position".folded]
        for column in columns where !seen.insert(column.stored.folded).inserted {
            throw StorageError(
                .invalidName, "\"\(name)\" has two columns named \"\(column.stored)\" (or one that is reserved).",
                remedy: "Rename one; SQLite ignores case, and _position belongs to StorageKit.")
        }
        guard columns.contains(where: \.schema.primaryKey) else {
            throw StorageError(
                .schemaMismatch, "\"\(name)\" has no primary key.", remedy: "Mark a column as primary key.")
        }
        guard columns.count(where: \.schema.primaryKey) <= Limits.keyColumns else {
            throw StorageError(
                .limitExceeded, "The key of \"\(name)\" has more than \(Limits.keyColumns) columns.",
                remedy: "Mark fewer columns as primary key.")
        }
        guard columns.count <= Limits.columns else { throw StorageError.tooManyColumns(name) }
        let hidden = Set(columns.map(\.stored.lowercasedASCII))
        guard !hidden.isSuperset(of: ["rowid", "oid", "_rowid_"]) else {
            throw StorageError(
                .invalidName, "\"\(name)\" has columns rowid, oid and _rowid_, which hide SQLite's rowid.",
                remedy: "Rename one of them.")
        }
    }
}

extension StorageError {
    static func undeclarable(_ entity: String, _ problem: String) -> StorageError {
        StorageError(
            .schemaMismatch, "\"\(entity)\" can't be declared: \(problem)",
            remedy: "Correct the type, or store the property as JSON with @StorageJSON.")
    }

    static func tooManyColumns(_ entity: String) -> StorageError {
        StorageError(
            .limitExceeded, "\"\(entity)\" has more than \(Limits.columns) columns.",
            remedy: "Split it in two entities.")
    }
}
