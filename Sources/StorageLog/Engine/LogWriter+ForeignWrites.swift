internal import CSQLite

/// Back-links after writes of other programs.
///
/// A program that changes a row's key, or copies a row with its `_position`, leaves a row whose last event is that of another one. An
/// event that pointed back there would make the log unreadable. While no other program writes, positions are right, and nothing is
/// read. SQLite notices other connections' commits only of one that is open: what happened between two openings isn't seen here. A
/// `_position` that was beyond the log's end when the other program wrote isn't checked once the log has grown past it.
extension LogWriter {
    /// Called when a transaction has begun.
    func noteForeignWrites() throws {
        guard foreignWrites.fileVersion == nil || fileVersion() != foreignWrites.fileVersion else { return }
        // It doesn't count the connection's own changes, but takes longer to read.
        let version = try pragma("data_version")
        defer { foreignWrites.version = version }
        guard version != foreignWrites.version else { return }
        foreignWrites.lastSeenEnd = head.position
        foreignWrites.reader = nil
    }

    /// Called when a transaction is durable.
    func noteOwnWrites() {
        foreignWrites.fileVersion = fileVersion()
        if let reader = foreignWrites.reader, reader.keptBytes > ForeignWrites.maximumKeptBytes {
            foreignWrites.reader = nil
        }
    }

    private func fileVersion() -> UInt32? {
        var version: UInt32 = 0
        let code = sqlite3_file_control(database.handle, nil, SQLITE_FCNTL_DATA_VERSION, &version)
        return code == SQLITE_OK ? version : nil
    }

    /// Whether the event at a position can be the one before a captured event: of the same row, and a delete only before an insert.
    ///
    /// The reader keeps the last segments, so that events in ascending order take one decoding of each segment.
    func mayFollow(_ earlier: Int64, _ index: Int, of view: EventView) throws -> Bool {
        if earlier > head.position {
            return Self.event(index, of: view, mayFollow: Int(earlier - head.position - 1), of: view)
        }
        let reader = foreignWrites.reader ?? LogReader(database)
        foreignWrites.reader = reader
        guard let batch = try reader.batch(containing: earlier) else { return false }
        return batch.withView { Self.event(index, of: view, mayFollow: Int(earlier - batch.header.first), of: $0) }
    }

    private static func event(
        _ index: Int, of view: EventView, mayFollow earlier: Int, of other: EventView
    ) -> Bool {
        view.shape(of: index).isInsert == other.shape(of: earlier).isDelete
            && RowAddress(view, at: index) == RowAddress(other, at: earlier)
    }
}
