internal import CSQLite
internal import GRDB

/// Measures one read if there is an observer of slow reads.
struct ReadMeasurement: Sendable {
    /// Nil if there is no observer.
    let signals: EngineSignals?
    let threshold: Duration
    let called: ContinuousClock.Instant

    /// Measures nothing.
    static let none = ReadMeasurement(signals: nil, threshold: .zero, called: .now)

    func measure<Result>(_ db: GRDB.Database, _ body: () throws -> Result) throws -> Result {
        guard let signals else { return try body() }
        let start = ContinuousClock.now
        let connection = try db.connection
        Self.forEachStatement(of: connection) { _ in }
        defer {
            let duration = ContinuousClock.now - called
            if duration >= threshold { signals.report(timing(connection, wait: start - called, duration)) }
        }
        return try body()
    }

    private func timing(_ connection: Connection, wait: Duration, _ duration: Duration) -> ReadTiming {
        var worst: Work?
        Self.forEachStatement(of: connection) { work in
            if work.steps > worst?.steps ?? 0 { worst = work }
        }
        let reason: ReadTiming.Reason
        if wait > duration / 2 {
            reason = .connection
        } else {
            reason = worst?.reason ?? .body
        }
        return ReadTiming(
            duration: duration, connection: wait, statement: worst?.sql, reason: reason,
            scannedRows: worst?.scanned ?? 0)
    }

    /// SQLite's counters of one statement.
    private struct Work {
        let sql: String
        let steps: Int32
        let scanned: Int
        let reason: ReadTiming.Reason?
    }

    /// Calls `body` with the counters of the connection's statements since the last call, and resets them.
    private static func forEachStatement(of connection: Connection, _ body: (Work) -> Void) {
        var next = sqlite3_next_stmt(connection.handle, nil)
        while let statement = next {
            let count = { (code: Int32) in sqlite3_stmt_status(statement, code, 1) }
            let (steps, scanned) = (count(SQLITE_STMTSTATUS_VM_STEP), count(SQLITE_STMTSTATUS_FULLSCAN_STEP))
            let (sorts, indexed) = (count(SQLITE_STMTSTATUS_SORT), count(SQLITE_STMTSTATUS_AUTOINDEX))
            if steps > 0 {
                let reason: ReadTiming.Reason? =
                    indexed > 0 ? .automaticIndex : scanned > 0 ? .fullScan : sorts > 0 ? .sort : nil
                body(
                    Work(
                        sql: sqlite3_sql(statement).map { String(cString: $0) } ?? "", steps: steps,
                        scanned: Int(scanned), reason: reason))
            }
            next = sqlite3_next_stmt(connection.handle, statement)
        }
    }
}

extension EngineSignals {
    /// Begins to measure a read.
    func readBegins() -> ReadMeasurement {
        guard let threshold = readThreshold else { return .none }
        return ReadMeasurement(signals: self, threshold: threshold, called: .now)
    }
}
