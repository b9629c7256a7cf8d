import Foundation
import StorageEntities
import StorageKit
import TestSupport
import Testing

@testable import StorageKitTool

/// UUIDs are kept as bytes, and shown and typed as text.
struct UUIDTests {
    @StorageEntity struct Ticket {
        var id: UUID
        var seat: String
        var sold: Date
        var buyer: UUID?
    }

    private static let first = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255))
    private static let buyer = UUID(uuid: (255, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private func store() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let storage = try StorageKit.start(at: URL(fileURLWithPath: folder.path())) { $0.autoSchema(TicketRecord.self) }
            .facade
        let sold = Date(timeIntervalSinceReferenceDate: 790_164_000.123)
        try await storage.save(Ticket(id: Self.first, seat: "1a", sold: sold))
        try await storage.save(Ticket(id: Self.first, seat: "1a", sold: sold, buyer: Self.buyer))
        try await storage.close()
        return folder
    }

    @Test(
        "Rows are named by UUIDs",
        arguments: [first.uuidString, first.uuidString.lowercased(), "0102030405060708090a0b0c0d0e0fff"])
    func rowsNamedByUUID(_ id: String) async throws {
        let folder = try await store()
        let history = try ToolProcess.run(["history", "tickets/\(id)", "--format", "jsonl"], store: folder.path())
        #expect(history.status == 0, "\(history.errors)")
        let lines = history.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.contains(#""id":"\#(Self.first.uuidString)""#) })
        #expect(lines.last?.contains(#""new":{"buyer":"\#(Self.buyer.uuidString)""#) == true, "\(history.output)")
        #expect(lines.first?.contains(#""sold":"2026-01-15 10:00:00.123""#) == true, "\(history.output)")
    }

    @Test(
        "Commands show UUIDs",
        arguments: [
            ["log", "tickets", "-p", "--format", "human"],
            ["blame", "tickets/\(first.uuidString)", "--format", "human"],
            ["at", "head", "SELECT id, buyer FROM tickets", "--format", "human"],
            ["at", "head", "SELECT id, buyer FROM tickets", "--format", "csv"], ["export"],
            ["diff", "@0", "head", "--format", "human"], ["grep", buyer.uuidString.lowercased(), "--format", "jsonl"],
            ["watch", "tickets", "--for", "0", "--format", "jsonl"],
        ])
    func commandsShowUUIDs(_ arguments: [String]) async throws {
        let folder = try await store()
        let run = try ToolProcess.run(arguments, store: folder.path())
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains(Self.first.uuidString), "\(run.output)")
        #expect(run.output.contains(Self.buyer.uuidString), "\(run.output)")
        #expect(!run.output.contains("x'"), "\(run.output)")
        #expect(!run.output.contains("$blob"), "\(run.output)")
    }

    @Test("Other bytes are shown as bytes")
    func otherBytes() async throws {
        let folder = try await store()
        let storage = try StorageKit.start(at: URL(fileURLWithPath: folder.path())) { $0.autoSchema(TicketRecord.self) }
            .facade
        try await storage.write { try $0.execute("UPDATE tickets SET buyer = x'00ff'") }
        try await storage.close()
        let run = try ToolProcess.run(
            ["at", "head", "SELECT buyer FROM tickets", "--format", "human"], store: folder.path())
        #expect(run.output.contains("x'00ff'"), "\(run.output)")
    }
}
