internal import StorageCore
internal import StorageLog

extension CatalogEntity {
    /// The largest possible position of the entity's rows and tombstones; nil if there is no table that has any.
    func lastTablePosition(in database: Connection) throws -> Int64? {
        let column = try PreparedStatement(
            database,
            """
            SELECT 1 FROM temp.pragma_table_list(?1) AS t JOIN temp.pragma_table_info(?1, 'main') AS c
            WHERE t.schema = 'main' AND t.type = 'table' AND c.name = '_position' COLLATE NOCASE
            """)
        column.bind(text: stored, at: 1)
        guard try column.step() else { return nil }
        column.reset()
        let select = try PreparedStatement(
            database,
            """
            SELECT max(position) FROM (
              SELECT _position AS position FROM \(quoted(stored))
              UNION ALL SELECT position FROM storage_tombstone WHERE entity = ?1)
            WHERE typeof(position) = 'integer' AND position <= ?2
            """)
        select.bind(Int64(id), at: 1)
        select.bind(Limits.numbers.upperBound, at: 2)
        return try select.step() && !select.row.isNull(at: 0) ? select.integer(0) : nil
    }
}
