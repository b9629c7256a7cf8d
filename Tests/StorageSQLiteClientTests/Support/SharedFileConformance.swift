import Foundation
import GRDB
import StorageCore
import StorageSQLiteClient
import TestSupport

/// What every engine of `SQLiteClient` must do where several connections are open to one file.
enum SharedFileConformance: String, CaseIterable, Sendable {
    case connectionsSeeEachOther
    case aLockHeldTooLongIsBusy
    case aClosedConnectionSaysSo
    case manyConnectionsLoseNothing

    private typealias Failure = ClientConformance.Failure

    var connectionCount: Int { self == .manyConnectionsLoseNothing ? 16 : 2 }
    var busyTimeout: Duration { self == .aLockHeldTooLongIsBusy ? .milliseconds(50) : .seconds(60) }

    func run(_ file: SharedFile) async throws {
        switch self {
        case .connectionsSeeEachOther: try await twoConnections(file)
        case .aLockHeldTooLongIsBusy: try await busy(file)
        case .aClosedConnectionSaysSo: try await closed(file)
        case .manyConnectionsLoseNothing: try await many(file)
        }
    }

    /// A file whose first connection has a fault, which this check must find.
    func withFault(_ file: SharedFile) -> SharedFile {
        let client = file.connections[0].client
        var faulty = client
        switch self {
        case .connectionsSeeEachOther: faulty = TransactionFault.undoesEverything.plant(in: client)
        case .aLockHeldTooLongIsBusy:
            // Doesn't say that trying again may help.
            faulty.writing = { body in
                do { try await client.writing(body) } catch {
                    throw SQLiteClientError(.database, "It failed: \(error).", remedy: "Correct the statement.")
                }
            }
        case .aClosedConnectionSaysSo:
            // Opens itself again.
            let other = file.connections[1].client
            faulty.reading = { body in
                do { try await client.reading(body) } catch { try await other.reading(body) }
            }
        case .manyConnectionsLoseNothing:
            // Loses writes once it has made some.
            let (writes, losing) = (Counter(), TransactionFault.undoesEverything.plant(in: client))
            faulty.writing = { body in
                try await writes.add() > 2 ? losing.writing(body) : client.writing(body)
            }
        }
        var file = file
        file.connections[0].client = faulty
        return file
    }
}

// MARK: Commits

extension SharedFileConformance {
    private static let ids: @Sendable (SQLiteTransaction) throws -> [Int] = { db in
        try db.fetchAll("SELECT id FROM users ORDER BY id", as: Int.self)
    }

    private func twoConnections(_ file: SharedFile) async throws {
        let (client, other) = (file.connections[0].client, file.connections[1].client)
        try await client.write { db in try db.execute("INSERT INTO users (id) VALUES (1)") }
        let found = try await other.read(Self.ids)
        try expect(found == [1], "another connection sees \(found) behind a commit")
        // A body of one sees one state, whatever the other commits meanwhile.
        let (before, after) = try await other.read {
            let before = try await other.read(Self.ids)
            try await client.write { db in try db.execute("INSERT INTO users (id) VALUES (2)") }
            return (before, try await other.read(Self.ids))
        }
        try expect(before == after, "a reading body saw \(before), then \(after)")
        let second = try await other.read(Self.ids)
        try expect(second == [1, 2], "another connection sees \(second) behind two commits")
        guard file.connections[1].mayWrite else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 3..<23 {
                let writer = id.isMultiple(of: 2) ? client : other
                group.addTask {
                    try await writer.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (?)", [id]) }
                }
            }
            try await group.waitForAll()
        }
        let all = try await client.read(Self.ids)
        try expect(all == Array(1..<23), "of both connections' commits there are \(all)")
    }

    private func many(_ file: SharedFile) async throws {
        let rounds = 4
        try await file.connections[0].client.write { db in
            try db.execute("INSERT INTO counters (id, value) VALUES (1, 0)")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, connection) in file.connections.enumerated() {
                group.addTask {
                    var known = 0
                    for round in 0..<rounds {
                        let id = place * rounds + round
                        if connection.mayWrite {
                            try await connection.client.write { db in
                                let value = try db.fetchOne("SELECT value FROM counters", as: Int.self) ?? 0
                                try db.execute("UPDATE counters SET value = ?", [value + 1])
                                try db.execute("INSERT INTO users (id) VALUES (?)", [id])
                            }
                        }
                        let (value, count, isThere) = try await connection.client.read { db in
                            try (
                                db.fetchOne("SELECT value FROM counters", as: Int.self) ?? 0,
                                db.fetchOne("SELECT count(*) FROM users", as: Int.self) ?? 0,
                                db.fetchOne("SELECT id FROM users WHERE id = ?", [id], as: Int.self) != nil
                            )
                        }
                        try expect(value == count, "one state has \(count) rows, and counts \(value)")
                        try expect(count >= known, "\(count) rows where \(known) were seen before")
                        try expect(isThere || !connection.mayWrite, "a connection doesn't see what it has written")
                        known = count
                    }
                }
            }
            try await group.waitForAll()
        }
        let wanted = file.connections.indices.filter { file.connections[$0].mayWrite }
            .flatMap { place in (0..<rounds).map { place * rounds + $0 } }
        for connection in file.connections {
            let found = try await connection.client.read(Self.ids)
            try expect(found == wanted, "\(found) where \(wanted) was written")
        }
    }
}

// MARK: Errors

extension SharedFileConformance {
    /// Somebody who isn't one of the connections holds the lock, as another process would.
    private func busy(_ file: SharedFile) async throws {
        let client = file.connections[0].client
        let insert: @Sendable (SQLiteTransaction) throws -> Void = { db in
            _ = try db.execute("INSERT INTO users (id) VALUES (1)")
        }
        var settings = Configuration()
        settings.allowsUnsafeTransactions = true
        // One of the connections may be at work still.
        settings.busyMode = .timeout(60)
        let holder = try DatabaseQueue(path: file.path, configuration: settings)
        try await holder.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        try await expectError(.busy) { try await client.write(insert) }
        try await expectError(.busy) { try await client.write { try await client.write(insert) } }
        let during = try await client.read(Self.ids)
        try expect(during == [], "\(during) while somebody else holds the lock")
        try await holder.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try await client.write(insert)
        let found = try await file.connections[1].client.read(Self.ids)
        try expect(found == [1], "\(found) behind the lock")
        try holder.close()
    }

    private func closed(_ file: SharedFile) async throws {
        let (client, other) = (file.connections[0].client, file.connections[1].client)
        try await client.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (1)") }
        try await file.connections[0].close()
        try await expectError(.closed) { try await client.read(Self.ids) }
        try await expectError(.closed) { try await client.read { try await client.read(Self.ids) } }
        try await expectError(.closed) {
            try await client.write { db in _ = try db.execute("INSERT INTO users (id) VALUES (2)") }
        }
        try await expectError(.closed) { try await client.write { try await client.read(Self.ids) } }
        try await expectError(.closed) { try await client.observeTables(["users"]) }
        try await file.connections[0].close()
        let found = try await other.read(Self.ids)
        try expect(found == [1], "another connection sees \(found)")
    }

    /// Expects an error of the client, or one of a store, whose codes have the same names.
    private func expectError<Result>(
        _ code: SQLiteClientError.Code, _ body: () async throws -> Result
    ) async throws {
        let found: (code: String, isExplained: Bool)
        do {
            _ = try await body()
            throw Failure(description: "no error where \(code) was expected")
        } catch let error as SQLiteClientError {
            found = (error.code.description, !error.message.isEmpty && !error.remedy.isEmpty)
        } catch let error as StorageError {
            found = (error.code.description, !error.message.isEmpty && !error.remedy.isEmpty)
        }
        try expect(found.code == code.description && found.isExplained, "\(found.code) where \(code) was expected")
    }
}
