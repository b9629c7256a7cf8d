import Foundation
import StorageKit
import StorageMaintenance
import StorageProjections
import TestSupport

/// Something that a program or a person does to a store, and during which the disk fails.
struct Operation: Sendable {
    let name: String
    /// Whether the store is open before anything fails.
    var opens = true
    /// Whether it is sealed in the background meanwhile.
    var seals = true
    /// Whether it makes another file and looks at that before it gets its name: what it says of damage is then said of that.
    var makesFile = false
    /// What it needs, before anything fails.
    var prepare: @Sendable (FaultCase) async throws -> Void = { _ in }
    /// - Throws: Where the caller learns that it failed.
    let run: @Sendable (FaultCase) async throws -> Void
    /// What else has to hold afterwards; the flag says whether it returned without an error.
    var check: @Sendable (FaultCase, Bool) async throws -> [Finding] = { _, _ in [] }

    static let all = ofPrograms + ofTheTool + ofTheOutbox
}

extension Operation {
    /// What programs do.
    static let ofPrograms: [Operation] = [
        Operation(name: "save") { test in
            let storage = try test.opened
            try await test.acknowledge(["new": 5]) { try await storage.save(LabStore.marks("new", 5)).position }
        },
        Operation(name: "save-many") { test in
            let storage = try test.opened
            try await test.acknowledge(["new": 400]) { try await storage.save(LabStore.marks("new", 400)).position }
        },
        Operation(name: "write-sql") { test in
            let storage = try test.opened
            try await test.acknowledge(["a": 0, "z": 90]) {
                try await storage.write { try $0.execute("UPDATE marks SET batch = 'z' WHERE batch = 'a'") }.position
            }
        },
        Operation(name: "save-together") { test in
            let storage = try test.opened
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        try await test.acknowledge(["t\(number)": 3]) {
                            try await storage.save(LabStore.marks("t\(number)", 3)).position
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
        Operation(name: "undo") { test in
            let storage = try test.opened
            try await test.acknowledge(["last": 0]) {
                try await storage.undo()
                return storage.head
            }
        },
        Operation(name: "restore-state") { test in
            let storage = try test.opened
            try await test.acknowledge(["c": 0, "last": 0]) {
                try await storage.restore(Mark.self, to: .commit(3))
                return storage.head
            }
        },
        Operation(name: "tag") { test in
            let storage = try test.opened
            try await test.acknowledge {
                try await storage.tag("during")
                return storage.head
            }
        },
        Operation(name: "rebuild") { test in _ = try await test.opened.rebuild() },
        Operation(name: "remake-projection") { test in _ = try await test.opened.projections.rebuild("mark_counts") },
        Operation(name: "seal", seals: false) { test in try await test.opened.seal() },
        Operation(name: "backup", makesFile: true) { test in try await test.back(up: "new.sqlite") },
        Operation(name: "replace-backup", makesFile: true) { test in try await test.back(up: "copy.sqlite") },
        Operation(name: "checkpoint") { test in
            let storage = try test.opened
            try await test.acknowledge(["new": 60]) { try await storage.save(LabStore.marks("new", 60)).position }
            try await storage.engine.withWriter { writer, db in try writer.checkpoint(db) }
        },
        Operation(
            name: "close",
            prepare: { test in
                let storage = try test.opened
                try await test.acknowledge(["new": 60]) { try await storage.save(LabStore.marks("new", 60)).position }
            }
        ) { test in try await test.opened.close() },
        Operation(name: "open", opens: false) { test in try await LabStore.open(test.path).close() },
        Operation(name: "declare", opens: false) { test in
            let storage = try StorageKit.start(at: URL(fileURLWithPath: test.path)) {
                $0.autoSchema(MarkRecord.self, LabelRecord.self)
                $0.addFullTextSearch(table: "labels", columns: ["text"])
                $0.addProjection(MarkCounts(), mode: .inline)
            }.facade
            try await storage.close()
        },
        Operation(name: "migrate", opens: false) { test in
            let storage = try StorageKit.start(at: URL(fileURLWithPath: test.path)) {
                $0.autoSchema(MarkRecord.self)
                $0.addFullTextSearch(table: "marks", columns: ["text"])
                $0.addProjection(MarkCounts(), mode: .inline)
                $0.migration("marks are made again") { db in
                    let select = "SELECT sql FROM sqlite_schema WHERE name = 'marks'"
                    guard let table = try String.fetchOne(db, sql: select) else { throw Misuse("no marks") }
                    try db.execute(
                        sql: """
                            \(table.replacing("marks", with: "marks_new"));
                            INSERT INTO marks_new SELECT * FROM marks;
                            UPDATE marks_new SET number = number + 1;
                            DROP TABLE marks;
                            ALTER TABLE marks_new RENAME TO marks
                            """)
                }
            }.facade
            try await storage.close()
        },
        Operation(name: "create", opens: false) { test in
            try await LabStore.open(test.folder.path("born.sqlite")).close()
        } check: { test, _ in
            // Whatever was left of it: it can be made there, or used.
            let storage = try LabStore.open(test.folder.path("born.sqlite"))
            try await storage.save(LabStore.marks("first", 3))
            let report = try await storage.verify()
            try await storage.close()
            return report.findings.map { Finding(kind: .unsound, text: "created: \($0)") }
        },
    ]
}

extension FaultCase {
    fileprivate func back(up name: String) async throws {
        let storage = try opened
        try await acknowledge(file: name) {
            try await storage.backup(to: URL(fileURLWithPath: folder.path(name)), replacing: true).position
        }
    }
}
