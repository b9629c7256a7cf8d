internal import StorageLog
internal import StorageProjections

extension UserProjections {
    /// Replaces a projection's tables with those that were rebuilt beside the store, in the current transaction.
    ///
    /// - Parameters:
    ///   - made: The rebuilt projection, from whose position the log is applied; nil to start at the beginning.
    ///   - kept: The names under which its old tables are kept.
    /// - Throws: ``ProjectionBatchError`` if the projection throws and its policy for history is to pause.
    func rebuild(
        _ slot: Slot, on writer: LogWriter, from made: RebuiltProjection?, keeping kept: [String: String]
    ) throws {
        for (table, name) in kept {
            try RetainedTable.checkFree(name, of: table, writer.database)
            try RetainedTable.keep(table, as: name, writer.database)
        }
        try rebuild(
            slot, on: writer,
            from: made.map { made in
                {
                    try made.copy(to: writer.database)
                    return made.position
                }
            })
    }
}
