import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageViews

/// What a commit costs live queries across tables: as much as it changes, however many rows there are.
@MainActor @Suite(.timeLimit(.minutes(5))) struct RelatedWorkTests {
    private struct Work: Equatable {
        var statements: Int
        var rowReads: Int
        var reloads: Int
    }

    /// Follows lists of a store with so many novels, three a novelist, and says what commits cost them.
    private func work(novels count: Int) async throws -> [Work] {
        let storage = try await Library.open()
        try await storage.write { tx in
            for number in 0..<count {
                if number % 3 == 0 {
                    try tx.save(Novelist(id: Self.id(number / 3), country: number % 2 == 0 ? "UA" : "PL"))
                }
                try tx.save(Novel(id: number, year: 1900 + number % 100, novelistId: Self.id(number / 3)))
            }
        }
        let novelists = storage.query(Novelist.self).orderBy(\.id).limit(20)
        let lists = [
            QuerySubscription(
                novelists.include(\.novels) { $0.orderBy(\.year, .descending).limit(2) }, start: .immediate),
            QuerySubscription(
                novelists.has(\.novels) { $0.year >= 1900 }.include(\.novels), start: .immediate),
        ]
        let parents = QuerySubscription(
            storage.query(Novel.self).has(\.novelist) { $0.country == "UA" }.orderBy(\.id).limit(20)
                .include(\.novelist), start: .immediate)
        var works: [Work] = []
        func measure(_ body: @escaping @Sendable (WriteTransaction) throws -> Void) async throws {
            let before = await storage.subscriptions.counters
            await storage.waitForViews(through: try await storage.write(body).receipt)
            let after = await storage.subscriptions.counters
            works.append(
                Work(
                    statements: after.statements - before.statements, rowReads: after.rowReads - before.rowReads,
                    reloads: after.reloads - before.reloads))
        }
        // A child that is shown, one that isn't, one that moves, the last of a parent, and a parent.
        try await measure { try $0.execute("UPDATE novels SET year = 1999 WHERE id = 4") }
        try await measure { try $0.execute("UPDATE novels SET year = 1999 WHERE id = \(count - 2)") }
        try await measure { try $0.execute("UPDATE novels SET novelistId = '\(Self.id(2))' WHERE id = 3") }
        try await measure { try $0.execute("DELETE FROM novels WHERE id IN (9, 10, 11)") }
        try await measure { try $0.save(Novelist(id: Self.id(1), country: "IE")) }
        #expect(lists[0].items.count == 20)
        #expect(lists[1].items.contains { $0.id == Self.id(3) } == false)
        #expect(parents.items.allSatisfy { $0.novelist?.country == "UA" })
        return works
    }

    private nonisolated static func id(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 7 - digits.count) + digits
    }

    @Test("A commit costs the same among few rows and among many")
    func workIsFlat() async throws {
        let few = try await work(novels: 300)
        let many = try await work(novels: Int(30_000 * testScale))
        #expect(few == many)
        #expect(few.allSatisfy { $0.reloads == 0 })
        // Neither reads anything but what the window needs.
        #expect(few.allSatisfy { $0.statements <= 24 }, "\(few)")
        #expect(few[1].statements <= 2, "\(few)")
    }
}
