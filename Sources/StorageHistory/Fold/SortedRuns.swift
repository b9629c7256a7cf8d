internal import CSQLite
internal import StorageCore
internal import StorageLog

/// Windows of one table that together don't fit in memory. Their rows are kept in a temporary database, each window sorted by key, and
/// merged in one pass.
///
/// This is an external merge sort (Knuth, The Art of Computer Programming, volume 3, section 5.4). A table that is filled from it is
/// written in the order of its keys, each row once, however its events are scattered over the log.
///
/// Not `Sendable`: it belongs to one thread.
final class SortedRuns {
    private let entity: CatalogEntity
    /// The numbers of key columns and of others.
    private let width: (key: Int, others: Int)
    private let database: Connection
    private let insert: PreparedStatement
    private let select: PreparedStatement
    /// The rows of windows, oldest window first.
    private var runs: [Run] = []
    private var nextRun: Int64 = 0

    /// A sorted sequence of records in chunks.
    private struct Run {
        let id: Int64
        var chunks: Int64 = 0
        /// The bytes of the largest chunk.
        var largest = 0
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

    init(of entity: CatalogEntity, limit: Int = SortedRuns.usualLimit) throws {
        self.entity = entity
        self.limit = limit
        let keyCount = entity.key.count
        width = (keyCount, entity.live.count - keyCount)
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

    /// Adds a finished window: the one after the last that was added.
    func add(_ window: NetWindow) throws {
        var (gone, present) = (makeRun(), makeRun())
        let chunk = RowChunk()
        // Each row is in one of the two.
        try write(window.tables[0].gone, of: window, to: &gone, through: chunk)
        try flush(chunk, to: &gone)
        try write(window.tables[0].present, of: window, to: &present, through: chunk)
        try flush(chunk, to: &present)
        runs += [gone, present].filter { $0.chunks > 0 }
        if runs.count > Self.leastRuns, runs.reduce(0, { $0 + $1.largest }) > limit { try compact() }
    }

    /// Calls `body` with windows that together take an empty table to the end of the last added one, in the order of their keys.
    ///
    /// - Parameters:
    ///   - limit: The memory that a window may take.
    ///   - memory: That of a finished window.
    ///   - keepsGone: Whether the windows have the rows that were deleted, too.
    func merge(
        limit: Int, memory: consuming NetWindow.Memory, keepsGone: Bool, _ body: (NetWindow) throws -> Void
    ) throws {
        var readers = try runs.map { try Reader($0, in: self) }
        var queue = RowQueue(keyCount: width.key)
        for run in readers.indices { queue.insert(run, readers[run].record) }
        var records: [RowRecord] = []
        var group: [Int] = []
        while !queue.isEmpty {
            var window = NetWindow([entity], after: 0, needed: nil, limit: limit, memory: consume memory)
            while window.memory < limit, !queue.isEmpty {
                queue.removeFirst(into: &records, &group)
                try window.append(records, width: width, keepsGone: keepsGone)
                for run in group where try readers[run].advance() { queue.insert(run, readers[run].record) }
            }
            window.finishMerged()
            try body(window)
            memory = window.legacy
        }
    }

    /// Merges all runs to those that one window has.
    private func compact() throws {
        var (gone, present) = (makeRun(), makeRun())
        let (goneChunk, presentChunk) = (RowChunk(), RowChunk())
        try merge(limit: Self.chunkSize, memory: NetWindow.Memory(), keepsGone: true) { window in
            try write(window.tables[0].gone, of: window, to: &gone, through: goneChunk)
            try write(window.tables[0].present, of: window, to: &present, through: presentChunk)
        }
        try flush(goneChunk, to: &gone)
        try flush(presentChunk, to: &present)
        try PreparedStatement(database, "DELETE FROM chunk WHERE id < ?1").run(gone.id * Self.chunksPerRun)
        runs = [gone, present].filter { $0.chunks > 0 }
    }

    private func makeRun() -> Run {
        defer { nextRun += 1 }
        return Run(id: nextRun)
    }

    private func write(
        _ rows: [Int32], of window: NetWindow, to run: inout Run, through chunk: RowChunk
    ) throws {
        try window.withContents { contents in
            for (count, index) in rows.enumerated() {
                contents.prefetch(rows, after: count)
                chunk.append(contents.rows[Int(index)], width: width, in: contents)
                if chunk.bytes.count >= Self.chunkSize { try flush(chunk, to: &run) }
            }
        }
    }

    private func flush(_ chunk: RowChunk, to run: inout Run) throws {
        guard !chunk.bytes.isEmpty else { return }
        insert.bind(run.id * Self.chunksPerRun + run.chunks, at: 1)
        insert.bind(borrowedBlob: chunk.bytes, at: 2)
        try insert.execute()
        run.chunks += 1
        run.largest = max(run.largest, chunk.bytes.count)
        chunk.removeAll()
    }

    private func read(_ number: Int64, of run: Run, into chunk: RowChunk) throws {
        select.bind(run.id * Self.chunksPerRun + number, at: 1)
        defer { select.reset() }
        guard try select.step() else { preconditionFailure("A chunk of a run wasn't written.") }
        chunk.replace(with: select.bytes(0))
    }
}
