extension EncodedSegment {
    static let insertion = """
        INSERT INTO storage_log(position, last, first_commit, last_commit, first_time, last_time, entities, format,
                                sealed, size, base, digest, body)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// Writes the segment by a statement of ``insertion``.
    func insert(with insert: PreparedStatement) throws {
        insert.bind(header.first, at: 1)
        insert.bind(header.last, at: 2)
        insert.bind(header.firstCommit, at: 3)
        insert.bind(header.lastCommit, at: 4)
        insert.bind(header.firstTime, at: 5)
        insert.bind(header.lastTime, at: 6)
        insert.bind(blob: header.entityBytes, at: 7)
        insert.bind(StoreSchema.formatVersion, at: 8)
        insert.bind(digest == nil ? 0 : 1, at: 9)
        insert.bind(Int64(header.size), at: 10)
        insert.bind(base, at: 11)
        if let digest { insert.bind(blob: digest, at: 12) } else { insert.bindNull(at: 12) }
        insert.bind(blob: body, at: 13)
        try insert.execute()
    }
}
