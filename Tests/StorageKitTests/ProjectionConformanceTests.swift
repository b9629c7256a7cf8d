import Foundation
import GRDB
import StorageKit
import StorageProjections
import StorageTesting
import Synchronization
import Testing

/// The kit that projections are tried with: it lets the right ones pass, and finds what is wrong with the others.
struct ProjectionConformanceTests {
    private typealias Order = ProjectionExample.Order

    private func findings(of projection: any Projection) async throws -> [String] {
        let kit = ProjectionConformance(projection) {
            $0.autoSchema(ProjectionExample.OrderRecord.self)
        } history: {
            storage in
            for number in 0..<12 {
                try await storage.write { tx in
                    try tx.save(Order(id: number, customer: "c\(number % 3)", cents: number))
                    try tx.save(Order(id: number % 4, customer: "c\(number % 5)", cents: number * 10))
                    if number % 3 == 2 { try tx.delete(Order.self, id: number - 1) }
                }
            }
        }
        return try await kit.run()
    }

    @Test("The worked example conforms")
    func workedExampleConforms() async throws {
        #expect(try await findings(of: ProjectionExample.OrderTotals()) == [])
    }

    /// Counts batches instead of events.
    private struct BatchCount: Projection {
        let name = "batches"
        let version = 1
        func prepare(_ db: Database) throws {
            try db.execute(sql: "CREATE TABLE batches(n INTEGER); INSERT INTO batches VALUES (0)")
        }
        func apply(_ batch: ProjectionBatch, _ db: Database) throws {
            try db.execute(sql: "UPDATE batches SET n = n + 1")
        }
    }

    /// Keeps its count where a rollback doesn't reach it.
    private final class MemoryCount: Projection {
        let name = "memory"
        let version = 1
        private let count = Mutex(0)
        func prepare(_ db: Database) throws {
            count.withLock { $0 = 0 }
            try db.execute(sql: "CREATE TABLE memory(n INTEGER); INSERT INTO memory VALUES (0)")
        }
        func apply(_ batch: ProjectionBatch, _ db: Database) throws {
            let total = count.withLock { count in
                count += batch.events.count
                return count
            }
            try db.execute(sql: "UPDATE memory SET n = ?", arguments: [total])
        }
    }

    /// Reads the table of the entity, which is ahead when history is read again.
    private struct Peeking: Projection {
        let name = "peeking"
        let version = 1
        func prepare(_ db: Database) throws {
            try db.execute(sql: "CREATE TABLE peeking(position INTEGER, cents INTEGER)")
        }
        func apply(_ batch: ProjectionBatch, _ db: Database) throws {
            for event in batch.events {
                try db.execute(
                    sql: "INSERT INTO peeking SELECT ?, (SELECT sum(cents) FROM orders)", arguments: [event.position])
            }
        }
    }

    @Test("Wrong projections are found")
    func wrongProjections() async throws {
        #expect(try await findings(of: BatchCount()).contains { $0.contains("in batches of") })
        #expect(try await findings(of: MemoryCount()).contains { $0.contains("with each batch undone once") })
        #expect(try await findings(of: Peeking()).contains { $0.contains("rebuilt for the 1. time") })
    }
}
