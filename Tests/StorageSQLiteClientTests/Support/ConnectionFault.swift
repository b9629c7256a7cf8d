import StorageCore
import StorageSQLiteClient
import TestSupport

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
    /// As SQLite itself does.
    case tellsOldCounts
    /// A statement that runs inside its own rows is the same one, as with a cache that doesn't look: the outer rows end.
    case sharesStatements
    case confusesColumns
    /// Once it has been asked often.
    case confusesArguments

    var checks: [ClientConformance] {
        switch self {
        case .losesRows: [.largeResultsAreHandedOverRowByRow]
        case .runsTheFirstStatementOnly, .forgetsWhatChanged: [.statementsInARow]
        case .losesErrors: [.errorsSayWhatTheyAre, .argumentsAreCounted, .notANumberIsRefused]
        case .storesNaNAsNull: [.notANumberIsRefused]
        case .storesIntegersAsText: [.valuesComeBackAsTheyWere]
        case .keepsWhatSavepointsUndo:
            [
                .savepointsAreUndoneAlone, .whatIsUndoneIsNotObserved, .bodiesInsideAreUndoneAlone,
                .bodiesBesideEachOtherAreUndoneAlone,
            ]
        case .tellsOldCounts: [.countsAreThoseOfTheLastStatement]
        case .sharesStatements: [.statementsRunInsideTheirOwnRows]
        case .confusesColumns: [.rowsAreDecodedByName]
        case .confusesArguments: [.manyClientsAtOnce]
        }
    }

    /// The client with this fault in each connection that its engine gives to a body.
    func plant(in client: SQLiteClient) -> SQLiteClient {
        var faulty = client
        let bodies = Counter()
        let plant: @Sendable (SQLiteTransaction) -> SQLiteTransaction = { transaction in
            let connection = transaction.connection
            return SQLiteTransaction(FaultyConnection(engine: connection, fault: self, isLate: bodies.add() > 300))
        }
        faulty.reading = { body in try await client.reading { try body(plant($0)) } }
        faulty.writing = { body in try await client.writing { try body(plant($0)) } }
        return faulty
    }
}

/// An engine's connection with a fault.
private final class FaultyConnection: SQLiteEngineConnection {
    private let engine: any SQLiteEngineConnection
    private let fault: ConnectionFault
    private let isLate: Bool
    private var count = 0
    /// How often each text has run.
    private var runs: [String: Int] = [:]

    init(engine: any SQLiteEngineConnection, fault: ConnectionFault, isLate: Bool) {
        self.engine = engine
        self.fault = fault
        self.isLate = isLate
    }

    func run(_ sql: String, _ arguments: [StorageValue], onRow body: (SQLiteRow) throws -> Bool) throws -> Int {
        switch fault {
        case .losesRows:
            var count = 0
            return try engine.run(sql, arguments) { row in
                count += 1
                return try count <= 99_999 && body(row)
            }
        case .runsTheFirstStatementOnly: return try engine.run("\(sql.prefix { $0 != ";" })", arguments, onRow: body)
        case .losesErrors: return (try? engine.run(sql, arguments, onRow: body)) ?? 0
        case .storesNaNAsNull: return try engine.run(sql, arguments.map(Self.withoutNaN), onRow: body)
        case .storesIntegersAsText: return try engine.run(sql, arguments.map(Self.withoutIntegers), onRow: body)
        case .keepsWhatSavepointsUndo:
            return try engine.run(sql.hasPrefix("ROLLBACK TO") ? "RELEASE storage_client" : sql, arguments, onRow: body)
        case .forgetsWhatChanged:
            try engine.run(sql, arguments, onRow: body)
            return 0
        case .tellsOldCounts:
            let changes = try engine.run(sql, arguments, onRow: body)
            if changes > 0 { count = changes }
            return count
        case .sharesStatements:
            runs[sql, default: 0] += 1
            let before = runs[sql]
            return try engine.run(sql, arguments) { try body($0) && self.runs[sql] == before }
        case .confusesColumns:
            return try engine.run(sql, arguments) { row in
                let names = row.columns.map { ["id": "name", "name": "id"][$0] ?? $0 }
                return try body(SQLiteRow(row.reader, layout: SQLiteRowLayout(names: names)))
            }
        case .confusesArguments:
            return try engine.run(sql, isLate ? arguments.map(Self.withOneMore) : arguments, onRow: body)
        }
    }

    func tables(readBy sql: String?) throws -> Set<String> { try engine.tables(readBy: sql) }

    var lastInsertedRowID: Int64 { engine.lastInsertedRowID }

    private static func withoutNaN(_ value: StorageValue) -> StorageValue {
        if case .real(let number) = value, number.isNaN { .null } else { value }
    }

    private static func withoutIntegers(_ value: StorageValue) -> StorageValue {
        if case .integer(let number) = value { .text("\(number)") } else { value }
    }

    private static func withOneMore(_ value: StorageValue) -> StorageValue {
        if case .integer(let number) = value { .integer(number + 1) } else { value }
    }
}
