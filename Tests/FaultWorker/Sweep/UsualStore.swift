import FaultSupport
import Foundation
import StorageKit
import StorageMaintenance
import TestSupport

/// The store that each case begins with: sealed runs, a tail, tables, an index, a projection, and files beside it to work with.
struct UsualStore {
    private let folder: TemporaryFolder
    private let rows: [String: Int]
    private let head: Int64
    private let copied: Int64

    /// What is adopted.
    static let people = 50

    init() async throws {
        folder = try TemporaryFolder.inMemory()
        let storage = try LabStore.open(folder.path("store.sqlite"), sealsInBackground: false)
        try await storage.save(LabStore.marks("a", 90))
        try await storage.save(LabStore.marks("b", 30))
        try await storage.seal()
        try await storage.save(LabStore.marks("gone", 20))
        try await storage.write(actor: "sql") {
            try $0.execute("UPDATE marks SET number = number + 1 WHERE batch = 'b'")
        }
        try await storage.deleteAll(Mark.self, where: "batch", equals: "gone")
        let copy = URL(fileURLWithPath: folder.path("copy.sqlite"))
        copied = try await storage.backup(to: copy).position
        try await storage.save(LabStore.marks("c", 70))
        try await storage.save(LabStore.marks("last", 10))
        try await storage.tag("before")
        try await storage.waitForProjections(through: try await storage.save(LabStore.marks("last", 10)))
        head = storage.head
        rows = ["a": 90, "b": 30, "gone": 0, "c": 70, "last": 10]
        try await storage.close()
        try Self.makePlain(folder.path("plain.sqlite"))
        try Self.history.write(toFile: folder.path("history.jsonl"), atomically: true, encoding: .utf8)
    }

    /// A copy of it in a folder of its own.
    func makeCase(opens: Bool, seals: Bool) throws -> FaultCase {
        let own = try TemporaryFolder.inMemory()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            guard !name.hasSuffix("-shm"), !name.hasSuffix(".lock"), !name.hasSuffix(".bell") else { continue }
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
            try bytes.write(to: URL(fileURLWithPath: own.path(name)))
        }
        let file = own.path("ledger")
        let ledger = Ledger { Self.append($0, to: file) }
        Self.append("begin", to: file)
        ledger.done(ledger.begin(rows), head: head)
        ledger.done(ledger.begin([:], file: "copy.sqlite"), head: copied)
        let storage = opens ? try LabStore.open(own.path("store.sqlite"), sealsInBackground: seals) : nil
        return FaultCase(folder: own, ledger: ledger, storage: storage)
    }

    /// For the check of what a dying process leaves.
    private static func append(_ line: String, to file: String) {
        let descriptor = Foundation.open(file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// A database that was made without StorageKit.
    private static func makePlain(_ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT); CREATE INDEX names ON people(name)")
            for id in 1...people {
                try db.execute(sql: "INSERT INTO people VALUES (?, ?)", arguments: [id, "Name \(id)"])
            }
        }
        try queue.close()
    }

    /// Three commits of 25 rows each, as the tool imports them.
    private static var history: String {
        (1...3).flatMap { commit in
            (0..<25).map { row in
                """
                {"tx":\(commit),"op":"insert","table":"imported","id":"i\(commit)-\(row)","row":\
                {"batch":"i\(commit)","number":\(row),"text":"imported \(row)"}}

                """
            }
        }.joined()
    }
}
