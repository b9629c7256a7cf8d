package import StorageCore

/// Whether the log still has all of its segments, as far as the numbers in the file show: nothing is decoded.
///
/// Tables are derived from the log. If a part of it is lost, they may be the only copy of what it held, and new events would
/// get positions that were used before. So both are refused: see ``StorageEngine/open(path:configuration:makeProjections:)`` and
/// rebuilds.
package enum LogCompleteness {
    /// The largest position in each of the engine's small tables. Tombstones and rows can be too many to look at when a store is
    /// opened.
    private static let known = """
        SELECT name, position FROM (
          SELECT 'storage_catalog' AS name, max(_position) AS position FROM storage_catalog
          UNION ALL SELECT 'storage_lineage', max(fork) FROM storage_lineage
          UNION ALL SELECT 'storage_tag', max(_position) FROM storage_tag
          UNION ALL SELECT 'storage_operation', _position FROM storage_operation
            WHERE id = (SELECT max(id) FROM storage_operation))
        WHERE typeof(position) = 'integer' AND position > ?1
        """

    /// - Complexity: O(rows of the catalog and tags).
    /// - Throws: `corrupt` if one of the engine's tables has a position after the log's end.
    static func checkEnd(_ database: Connection) throws {
        if let problem = try lostEnd(in: database) { throw StorageError.incompleteLog(problem) }
    }

    /// What shows that the log has lost its end: a position after it in one of the engine's small tables; nil if there is none.
    package static func lostEnd(in database: Connection) throws -> String? {
        let head = try LogHead.load(database).position
        let select = try PreparedStatement(database, known)
        select.bind(head, at: 1)
        guard try select.step() else { return nil }
        return "it ends at @\(head), and \(select.string(0)) has the position @\(select.integer(1))"
    }

    /// The first position without a segment, and the one at which the log continues; nil if there is no gap.
    ///
    /// - Complexity: O(segments).
    package static func gap(in database: Connection) throws -> (expected: Int64, found: Int64)? {
        let select = try PreparedStatement(
            database,
            """
            SELECT position, expected FROM (
              SELECT position, first_commit, last, last_commit,
                     lag(last, 1, 0) OVER (ORDER BY position) + 1 AS expected,
                     lag(last_commit, 1, 0) OVER (ORDER BY position) AS commit_before
              FROM storage_log)
            WHERE position <> expected OR last < position OR first_commit NOT IN (commit_before, commit_before + 1)
               OR last_commit < first_commit
            LIMIT 1
            """)
        return try select.step() ? (select.integer(1), select.integer(0)) : nil
    }

    /// - Throws: `corrupt` if segments are missing before the log's end, or after it.
    package static func check(_ database: Connection) throws {
        try checkEnd(database)
        guard let gap = try gap(in: database) else { return }
        throw StorageError.incompleteLog("it has a gap at @\(gap.expected) and continues at @\(gap.found)")
    }
}

extension StorageError {
    /// An error for a log of which a part is missing, while the tables may still have what it held.
    package static func incompleteLog(_ problem: String) -> StorageError {
        StorageError(
            .corrupt, "The log is incomplete: \(problem).",
            remedy:
                "Restore a backup: storagekit restore BACKUP -o NEW. Keep this file: storagekit sql still reads its tables, whose rows the log may have lost."
        )
    }
}
