internal import StorageCore
internal import StorageHistory
internal import StorageLog

extension ShadowTable {
    /// Compares the shadow with the entity's table row by row, until `report` returns false.
    ///
    /// - Returns: The number of rows in both.
    func compare(
        with entity: CatalogEntity, in database: Connection, report: (RowComparison.Difference) throws -> Bool
    ) throws -> Int {
        let columns = entity.key + entity.live.filter { $0.keyOrdinal == 0 }
        let (names, keys) = (columns.map { quoted($0.stored) }, entity.key.count)
        return try RowComparison(keyCount: keys, names: columns.map(\.name) + ["_position"]).run(
            PreparedStatement(database, RowComparison.selectEntity(table, names, keys: keys)),
            PreparedStatement(database, RowComparison.selectEntity(quoted(entity.stored), names, keys: keys)),
            report: report)
    }
}
