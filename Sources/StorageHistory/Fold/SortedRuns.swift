internal import CSQLite
internal import StorageCore
internal import StorageLog

/// Windows that together don't fit in memory. Their rows are kept in a temporary database, each table of a window sorted by key, and merged
/// in one pass.
///
/// This is an external merge sort (Knuth, The Art of Computer Programming, volume 3, section 5.4). A table that is filled from it is
/// written in the order of its keys, each row once, however its events are scattered over the log.
///
/// Not `Sendable`: one thread at a time uses it.
final class SortedRuns {
    private var tables: [Table]
    private let database: Connection
    private let insert: PreparedStatement
    private let select: PreparedStatement
    private var nextRun: Int64 = 0

    private struct Table {
        let entity: CatalogEntity
        /// The numbers of key columns and of others.
        let width: (key: Int, others: Int)
        /// The rows of windows, oldest window first.
        var runs: [Run] = []

        var count: Int { runs.reduce(0) { $0 + $1.records } }

        init(_ entity: CatalogEntity) {
            self.entity = entity
            let keyCount = entity.key.count
            width = (keyCount, entity.live.count - keyCount)
        }
    }

    /// A sorted sequence of records in chunks.
    private struct Run {
        let id: Int64
        var chunks: Int64 = 0
        var records = 0
        /// The bytes of the largest chunk.
        var largest = 0
    }

    /// A run that is being written.
    private struct Writer {
        var run: Run
        /// Records that aren't in the database yet.
        let chunk = RowChunk()
    }

    /// All rows of a table in the added windows in the order of their keys, those of a key folded to one.
    ///
    /// Not `Sendable`: it belongs to the thread of its runs.
    final class Merge {
        private let table: Table
        private let keepsGone: Bool
        private var readers: [Reader]
        private var queue: RowQueue
        private var records: [RowRecord] = []
        private var group: [Int] = []
        /// The records that weren't merged yet.
        private(set) var rest: Int

        /// - Parameters:
        ///   - table: Its index in the windows.
        ///   - keepsGone: Whether the merged windows have the rows that were deleted, too.
        init(_ runs: SortedRuns, table: Int, keepsGone: Bool) throws {
            self.table = runs.tables[table]
            self.keepsGone = keepsGone
            readers = try self.table.runs.map { try Reader($0, in: runs) }
            rest = self.table.count
            queue = RowQueue(keyCount: self.table.width.key)
            for run in readers.indices { queue.insert(run, readers[run].record) }
        }

        /// Returns the next of the windows that together take an empty table to the end of the last added one, or nil after the last.
        ///
        /// - Parameters:
        ///   - limit: The memory that the window may take.
        ///   - memory: That of a finished window.
        func next(limit: Int, memory: consuming NetWindow.Memory) throws -> NetWindow? {
            guard !queue.isEmpty else { return nil }
            var window = NetWindow([table.entity], after: 0, needed: nil, limit: limit, memory: memory)
            while window.memory < limit, !queue.isEmpty {
                queue.takeFirst(into: &records, &group)
                rest -= records.count
                try window.append(records, width: table.width, keepsGone: keepsGone)
                queue.replaceFirst(with: try readers[group[0]].advance() ? readers[group[0]].record : nil)
                for run in group.dropFirst() where try readers[run].advance() { queue.insert(run, readers[run].record) }
            }
            window.finishMerged()
            return window
        }
    }

    /// Reads a run record by record.
    private struct Reader {
        private let runs: SortedRuns
        private let run: Run
        private let chunk = RowChunk()
        private var nextChunk: Int64 = 0
        /// Where the chunk ends.
        private var end: UnsafeMutableRawPointer
        /// Valid until ``advance()``.
        private(set) var record: RowRecord

        /// - Parameter run: One that has records.
        init(_ run: Run, in runs: SortedRuns) throws {
            self.run = run
            self.runs = runs
            end = chunk.start
            record = RowRecord(end)
            try readChunk()
        }

        /// - Returns: Whether there is another record.
        mutating func advance() throws -> Bool {
            record = RowRecord(record.start + record.size)
            if record.start < end { return true }
            guard nextChunk < run.chunks else { return false }
            try readChunk()
            return true
        }

        private mutating func readChunk() throws {
            try runs.read(nextChunk, of: run, into: chunk)
            nextChunk += 1
            record = RowRecord(chunk.start)
            end = chunk.start + chunk.bytes.count
        }
    }

    /// The bytes of the chunks, one of each run, that are merged at once. If there are more, all runs are merged to two first:
    /// those of deleted and of present rows.
    private let limit: Int
    /// So many are merged at once in any case: merging writes all rows again.
    private static let leastRuns = 8
    static let usualLimit = 16 << 20
    /// The bytes of a chunk: one that has reached them is written, and has one record more at most.
    private static let chunkSize = 64 << 10
    private static let chunksPerRun: Int64 = 1 << 32

    init(of entities: [CatalogEntity], limit: Int = SortedRuns.usualLimit) throws {
        tables = entities.map(Table.init)
        self.limit = limit
        database = try Connection(
            opening: "", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
            orFailWith: "a temporary file can't be made")
        do {
            // Chunks are read and written as a whole: large pages need fewer system calls.
            try database.execute("PRAGMA page_size = 65536; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            try PreparedStatement(database, "CREATE TABLE chunk(id INTEGER PRIMARY KEY, records BLOB)").execute()
            insert = try PreparedStatement(database, "INSERT INTO chunk(id, records) VALUES (?1, ?2)")
            select = try PreparedStatement(database, "SELECT records FROM chunk WHERE id = ?1")
            try PreparedStatement(database, "BEGIN").execute()
        } catch {
            database.close()
            throw error
        }
    }

    deinit { database.close() }

    /// The records of all runs.
    var count: Int { tables.reduce(0) { $0 + $1.count } }

    /// Adds a finished window: the one after the last that was added.
    func add(_ window: NetWindow) throws {
        for table in tables.indices {
            // Each row is in one of the two.
            for rows in [window.tables[table].gone, window.tables[table].present] where !rows.isEmpty {
                var writer = makeWriter()
                try write(rows, of: window, width: tables[table].width, to: &writer)
                tables[table].runs.append(try finish(&writer))
            }
            let runs = tables[table].runs
            if runs.count > Self.leastRuns, runs.reduce(0, { $0 + $1.largest }) > limit { try compact(table) }
        }
    }

    /// Merges all runs of a table to those that one window has.
    private func compact(_ table: Int) throws {
        let width = tables[table].width
        var (gone, present) = (makeWriter(), makeWriter())
        let merge = try Merge(self, table: table, keepsGone: true)
        var memory = NetWindow.Memory()
        while let window = try merge.next(limit: Self.chunkSize, memory: consume memory) {
            try write(window.tables[0].gone, of: window, width: width, to: &gone)
            try write(window.tables[0].present, of: window, width: width, to: &present)
            memory = window.legacy
        }
        let delete = try PreparedStatement(database, "DELETE FROM chunk WHERE id BETWEEN ?1 AND ?2")
        for run in tables[table].runs {
            try delete.run(run.id * Self.chunksPerRun, (run.id + 1) * Self.chunksPerRun - 1)
        }
        tables[table].runs = try [finish(&gone), finish(&present)].filter { $0.chunks > 0 }
    }

    private func makeWriter() -> Writer {
        defer { nextRun += 1 }
        return Writer(run: Run(id: nextRun))
    }

    private func write(
        _ rows: [Int32], of window: NetWindow, width: (key: Int, others: Int), to writer: inout Writer
    ) throws {
        try window.withContents { contents in
            for (count, index) in rows.enumerated() {
                contents.prefetch(rows, after: count)
                writer.chunk.append(contents.rows[Int(index)], width: width, in: contents)
                if writer.chunk.bytes.count >= Self.chunkSize { try flush(&writer) }
            }
        }
        writer.run.records += rows.count
    }

    private func finish(_ writer: inout Writer) throws -> Run {
        if !writer.chunk.bytes.isEmpty { try flush(&writer) }
        return writer.run
    }

    private func flush(_ writer: inout Writer) throws {
        insert.bind(writer.run.id * Self.chunksPerRun + writer.run.chunks, at: 1)
        insert.bind(borrowedBlob: writer.chunk.bytes, at: 2)
        try insert.execute()
        writer.run.chunks += 1
        writer.run.largest = max(writer.run.largest, writer.chunk.bytes.count)
        writer.chunk.removeAll()
    }

    private func read(_ number: Int64, of run: Run, into chunk: RowChunk) throws {
        select.bind(run.id * Self.chunksPerRun + number, at: 1)
        defer { select.reset() }
        guard try select.step() else { preconditionFailure("A chunk of a run wasn't written.") }
        chunk.replace(with: select.bytes(0))
    }
}
