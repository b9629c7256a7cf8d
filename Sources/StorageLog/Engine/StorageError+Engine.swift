internal import CSQLite
package import StorageCore

extension StorageError {
    /// What is written to a file that others don't find by its path is lost with the connection.
    static func fileMoved(_ path: String?) -> StorageError {
        var error = StorageError(
            .ioError, "\(path ?? "The store's file") was moved, deleted or replaced while the store was open.",
            remedy: "Close the store and put its file back, or open the file that is there now.")
        error.isStoreFailure = true
        return error
    }

    /// Others don't find what is written to a write-ahead log without a name, and neither does the next opening.
    static func sidecarMoved(_ path: String) -> StorageError {
        var error = StorageError(
            .ioError, "\(path) was moved, deleted or replaced while the store was open.",
            remedy:
                "Close the store, which brings into its file what SQLite still has, and open it again. Only SQLite may delete this file."
        )
        error.isStoreFailure = true
        return error
    }

    /// An error for an entity whose table another program has dropped while the store was open.
    package static func droppedTable(_ name: String) -> StorageError {
        StorageError(
            .corrupt, "Another program has dropped the table of entity \"\(name)\". The log still has its rows.",
            remedy: "Close the store and open it again, which rebuilds the table from the log."
        ).causedBySchemaChange()
    }

    /// An error for an entity whose table isn't the one that the writer knows any more, by the work of another program.
    static func exchangedTable(_ name: String) -> StorageError {
        StorageError(
            .schemaMismatch,
            "The table of entity \"\(name)\" isn't the one that the store had: another program has replaced, changed or emptied it.",
            remedy: "Close the store. What differs from the log: storagekit verify"
        ).causedBySchemaChange()
    }

    static func transactionEnded(_ cause: (any Error)? = nil) -> StorageError {
        StorageError(
            .invalidArgument, "A write ended the transaction that it runs in.",
            remedy: "Leave BEGIN, COMMIT and ROLLBACK to StorageKit; use savepoints inside a write.", cause: cause)
    }

    static func untracedSchemaChange() -> StorageError {
        StorageError(
            .invalidArgument,
            "A write sets a trace function and changes the schema, for which StorageKit needs its own trace function.",
            remedy: "Change the schema in a write of its own, without trace(options:_:).")
    }

    static func unresolvedReferences() -> StorageError {
        StorageError(
            .conflict, "A deferred foreign key points to a row that isn't there.",
            remedy: "Insert the referenced row, or delete the referencing row, in the same write.")
    }

    static func reservedTable(_ name: String? = nil) -> StorageError {
        StorageError(
            .invalidArgument,
            "A write changes \(name.map { "\"\($0)\"" } ?? "a table") of the engine: names that begin with storage_ are reserved.",
            remedy: "Leave those tables to StorageKit; its API and tool change what may be changed.")
    }

    static func capture(_ code: Int32, entity: String?, column: String?) -> StorageError {
        let location = [entity, column].compactMap { $0 }.joined(separator: ".")
        switch Int(code) {
        case STORAGE_CAPTURE_NUL_IN_TEXT:
            return StorageError(
                .invalidValue,
                "Text with a NUL character can't be stored in \(location): SQL functions would cut it off.",
                remedy: "Remove the NUL, or store the bytes as a blob.")
        case STORAGE_CAPTURE_INVALID_TEXT:
            return StorageError(
                .invalidValue, "Text that isn't UTF-8 can't be stored in \(location).",
                remedy: "Correct its encoding, or store the bytes as a blob.")
        case STORAGE_CAPTURE_BLOB_WRITE:
            return StorageError(
                .invalidArgument,
                "A row of \(location) was written to with sqlite3_blob_write, which can't be captured.",
                remedy: "Write the whole value with UPDATE.")
        case STORAGE_CAPTURE_UNREADABLE_COLUMN:
            return StorageError(
                .schemaMismatch, "A column of \(location) can't be captured: it is generated.",
                remedy: "Drop the column; compute it in a view or query."
            ).causedBySchemaChange()
        case STORAGE_CAPTURE_RESERVED_TABLE:
            return StorageError.reservedTable(entity)
        case STORAGE_CAPTURE_NULL_IN_KEY:
            return StorageError(
                .invalidValue,
                "A row of \(entity ?? "an entity") has no value in \(location), which is part of its key.",
                remedy: "Give it one: history finds a row by its whole key.")
        case STORAGE_CAPTURE_VALUE_TOO_LARGE:
            return StorageError(
                .limitExceeded, "A value of \(location) is larger than \(Limits.valueBytes) bytes.",
                remedy: "Store large content in files, and their names here.")
        case STORAGE_CAPTURE_COMMIT_TOO_LARGE:
            return StorageError(
                .limitExceeded,
                "A commit changes more than \(Limits.commitEvents) rows or \(Limits.commitBytes) bytes (at \(location)).",
                remedy: "Split it into several commits.")
        case STORAGE_CAPTURE_UNKNOWN_COLUMNS:
            return StorageError(
                .schemaMismatch,
                "A table of \(location.isEmpty ? "an entity" : location) changed its columns in a way that can't be followed.",
                remedy: "Change entity tables with ALTER TABLE (ADD, RENAME or DROP COLUMN, RENAME TO) only."
            ).causedBySchemaChange()
        case STORAGE_CAPTURE_FOREIGN_TABLE:
            return StorageError(
                .corrupt,
                "Another program has changed the table of \(location): columns that the log has are missing, or its primary key is another. Nothing of this commit was stored.",
                remedy: "Undo that change, or rebuild the table from the log: storagekit rebuild"
            ).causedBySchemaChange()
        default:
            return StorageError(
                .unusable, "There is no memory for the changes of this commit.",
                remedy: "Split it into several commits.")
        }
    }
}

/// An error after which the other commits of the same transaction can't continue either.
struct GroupFailure: Error {
    let cause: any Error
    /// Whether the commit only took more than its share; see ``OutgrownCommit``.
    var isOutgrown = false
}

/// A commit yielded to those that wait for it. Its changes are undone; it runs again, first in a group.
struct OutgrownCommit: Error {}

extension Error {
    func endingTheGroup() -> GroupFailure { GroupFailure(cause: self) }
}

extension CommitMetadata {
    /// - Throws: `limit-exceeded` or `invalid-value` if a field can't be stored exactly.
    package func validate() throws {
        try validate(actor, "actor")
        try validate(app, "app")
        try validate(reason, "reason")
        try validate(correlation, "correlation")
        try validate(idempotencyKey, "idempotency key")
        for (name, value) in attributes {
            try validate(name, "attribute name")
            try validate(value, "attribute \(name)")
        }
        guard attributes.count <= Limits.attributes else {
            throw StorageError(
                .limitExceeded, "A commit has more than \(Limits.attributes) attributes.",
                remedy: "Keep them in rows.")
        }
    }

    private func validate(_ value: String?, _ name: @autoclosure () -> String) throws {
        guard let value else { return }
        guard value.utf8.count <= Limits.metadataBytes else {
            throw StorageError(
                .limitExceeded, "The commit's \(name()) is longer than \(Limits.metadataBytes) bytes.",
                remedy: "Shorten it, or keep it in a row.")
        }
        guard !value.utf8.contains(0) else {
            throw StorageError(
                .invalidValue, "The commit's \(name()) contains a NUL character.", remedy: "Remove the NUL.")
        }
    }
}
