import StorageCore
import StorageSQLiteClient

/// What a connection of an engine might do wrong.
enum ConnectionFault: CaseIterable, Sendable {
    /// Ends a long result early, as if there were no more rows.
    case losesRows
    case runsTheFirstStatementOnly
    case losesErrors
    /// As SQLite itself does.
    case storesNaNAsNull
    case storesIntegersAsText
    case keepsWhatSavepointsUndo
    case forgetsWhatChanged

    var checks: [ClientConformance] {
        switch self {
        case .losesRows: [.largeResultsAreHandedOverRowByRow]
        case .runsTheFirstStatementOnly, .forgetsWhatChanged: [.statementsInARow]
        case .losesErrors: [.errorsSayWhatTheyAre, .argumentsAreCounted, .notANumberIsRefused]
        case .storesNaNAsNull: [.notANumberIsRefused]
        case .storesIntegersAsText: [.valuesComeBackAsTheyWere]
        case .keepsWhatSavepointsUndo: [.savepointsAreUndoneAlone, .whatIsUndoneIsNotObserved]
        }
    }

    /// The client with this fault in each connection that its engine gives to a body.
    func plant(in client: SQLiteClient) -> SQLiteClient {
        var faulty = client
        faulty.reading = { body in try await client.reading { try body(with(self, $0)) } }
        faulty.writing = { body in try await client.writing { try body(with(self, $0)) } }
        return faulty
    }
}

private func with(_ fault: ConnectionFault, _ transaction: SQLiteTransaction) -> SQLiteTransaction {
    SQLiteTransaction(FaultyConnection(engine: transaction.connection, fault: fault))
}

/// An engine's connection with a fault.
private struct FaultyConnection: SQLiteEngineConnection {
    let engine: any SQLiteEngineConnection
    let fault: ConnectionFault

    func run(_ sql: String, _ arguments: [StorageValue], _ body: (SQLiteRow) throws -> Bool) throws {
        switch fault {
        case .losesRows:
            var count = 0
            try engine.run(sql, arguments) { row in
                count += 1
                return try count <= 99_999 && body(row)
            }
        case .runsTheFirstStatementOnly: try engine.run("\(sql.prefix { $0 != ";" })", arguments, body)
        case .losesErrors: do { try engine.run(sql, arguments, body) } catch {}
        case .storesNaNAsNull: try engine.run(sql, arguments.map(Self.withoutNaN), body)
        case .storesIntegersAsText: try engine.run(sql, arguments.map(Self.withoutIntegers), body)
        case .keepsWhatSavepointsUndo:
            try engine.run(sql.hasPrefix("ROLLBACK TO") ? "RELEASE storage_client" : sql, arguments, body)
        case .forgetsWhatChanged: try engine.run(sql, arguments, body)
        }
    }

    func tables(readBy sql: String?) throws -> Set<String> { try engine.tables(readBy: sql) }

    var changes: Int { fault == .forgetsWhatChanged ? 0 : engine.changes }
    var lastInsertedRowID: Int64 { engine.lastInsertedRowID }

    private static func withoutNaN(_ value: StorageValue) -> StorageValue {
        if case .real(let number) = value, number.isNaN { .null } else { value }
    }

    private static func withoutIntegers(_ value: StorageValue) -> StorageValue {
        if case .integer(let number) = value { .text("\(number)") } else { value }
    }
}
