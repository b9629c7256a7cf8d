internal import StorageLog
internal import StorageProjections

extension UserProjections {
    /// Puts what was made of a projection beside the store in the place of its tables, in the transaction under way.
    ///
    /// - Parameters:
    ///   - made: What was made of it already, which is resumed; nil to begin at the beginning.
    ///   - kept: Under which names its old tables are kept.
    /// - Throws: ``ProjectionBatchError`` where it throws and its policy for history is to pause.
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
