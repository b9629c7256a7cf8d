import Foundation
import StorageKit
import StorageMaintenance
import TestSupport

extension Operation {
    /// What people do with the command-line tool.
    static let ofTheTool: [Operation] = [
        Operation(name: "tool-import", opens: false) { test in
            let writes = (1...3).map { test.ledger.begin(["i\($0)": 25]) }
            try await test.tool("import", "-q", "-s", test.path, test.folder.path("history.jsonl"))
            for write in writes { test.ledger.done(write, head: 0) }
        },
        Operation(name: "tool-undo", opens: false) { test in
            try await test.acknowledge(["last": 0]) {
                try await test.tool("undo", "-s", test.path, "--yes")
                return 0
            }
        },
        Operation(
            name: "tool-redo", opens: false,
            prepare: { test in
                try await test.acknowledge(["last": 0]) {
                    try await test.tool("undo", "-s", test.path, "--yes")
                    return 0
                }
            }
        ) { test in
            try await test.acknowledge(["last": 10]) {
                try await test.tool("redo", "-s", test.path, "--yes")
                return 0
            }
        },
        Operation(name: "tool-revert", opens: false) { test in
            try await test.acknowledge(["c": 0]) {
                try await test.tool("revert", "t:7", "-s", test.path, "--yes")
                return 0
            }
        },
        Operation(name: "tool-restore-state", opens: false) { test in
            try await test.acknowledge(["c": 0, "last": 0]) {
                try await test.tool("restore-state", "t:3", "marks", "-s", test.path, "--yes")
                return 0
            }
        },
        Operation(name: "tool-tag", opens: false) { test in
            try await test.acknowledge {
                try await test.tool("tag", "during", "-s", test.path)
                return 0
            }
        },
        Operation(name: "tool-note", opens: false) { test in
            try await test.acknowledge {
                try await test.tool("note", "t:3", "a note", "-s", test.path)
                return 0
            }
        },
        Operation(name: "tool-projections", opens: false) { test in
            try await test.tool("projections", "reset", "mark_counts", "-s", test.path, "--yes")
        },
        Operation(name: "tool-projections-pause", opens: false) { test in
            try await test.tool("projections", "pause", "mark_counts", "-s", test.path)
        } check: { test, _ in
            try await resumed(test)
        },
        Operation(
            name: "tool-projections-resume", opens: false,
            prepare: { try await $0.tool("projections", "pause", "mark_counts", "-s", $0.path) }
        ) { test in
            try await test.tool("projections", "resume", "mark_counts", "-s", test.path)
        } check: { test, _ in
            try await resumed(test)
        },
        Operation(name: "tool-tokens", opens: false) { test in
            try await test.tool("tokens", "create", "anna", "--write", "marks", "-s", test.path)
        },
        Operation(name: "tool-doctor", opens: false) { test in
            try await test.tool("doctor", "--fix", "-s", test.path, "--yes")
        },
        Operation(name: "tool-verify", opens: false) { test in try await test.tool("verify", "-s", test.path) },
        Operation(name: "tool-rebuild", opens: false) { test in
            try await test.tool("rebuild", "-s", test.path, "--yes")
        },
        Operation(name: "tool-backup", opens: false, makesFile: true) { test in
            try await test.acknowledge(file: "new.sqlite") {
                try await test.tool("backup", test.folder.path("new.sqlite"), "-s", test.path)
                return 1
            }
        },
        Operation(name: "tool-restore", opens: false, makesFile: true) { test in
            try await test.acknowledge(file: "new.sqlite") {
                try await test.tool("restore", test.path, "--to", "t:3", "-o", test.folder.path("new.sqlite"))
                return 1
            }
        },
        Operation(name: "tool-adopt", opens: false, makesFile: true) { test in
            try await test.acknowledge(file: "new.sqlite") {
                try await test.tool("adopt", test.folder.path("plain.sqlite"), "-s", test.folder.path("new.sqlite"))
                return Int64(UsualStore.people)
            }
        },
        Operation(name: "tool-adopt-over", opens: false, makesFile: true) { test in
            let file = test.folder.path("copy.sqlite")
            let (write, former) = (test.ledger.begin([:], file: "copy.sqlite"), Acknowledgement.file(of: file))
            do {
                try await test.tool("adopt", test.folder.path("plain.sqlite"), "-s", file, "--force", "--yes")
            } catch {
                // What fails behind the renaming says that the new store stands: only whether its name is on the disk isn't known.
                if Acknowledgement.file(of: file) != former { test.ledger.done(write, head: Int64(UsualStore.people)) }
                throw error
            }
            test.ledger.done(write, head: Int64(UsualStore.people))
        },
        Operation(name: "tool-adopt-in-place", opens: false, makesFile: true) { test in
            try await test.tool("adopt", test.folder.path("plain.sqlite"), "--in-place", "--yes")
        } check: { test, isDone in
            try await people(in: test.folder.path("plain.sqlite"), isStore: isDone)
        },
    ]

    /// Lets the projection go on, whether it is paused or not.
    private static func resumed(_ test: FaultCase) async throws -> [Finding] {
        let storage = try LabStore.open(test.path)
        try await storage.projections.resume("mark_counts")
        try await storage.close()
        return []
    }

    /// A database that was to be turned into a store has its rows, and is a store once that was said.
    private static func people(in path: String, isStore: Bool) async throws -> [Finding] {
        // What has failed may still be closing the file, which locks it.
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(60)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let (rows, integrity, id) = try await queue.read { db in
            (
                try Int.fetchOne(db, sql: "SELECT count(*) FROM people"),
                try String.fetchOne(db, sql: "PRAGMA integrity_check"),
                try Int.fetchOne(db, sql: "PRAGMA application_id")
            )
        }
        try queue.close()
        var findings: [Finding] = []
        if rows != UsualStore.people { findings.append(Finding(kind: .lost, text: "\(rows ?? 0) people are left")) }
        if integrity != "ok" { findings.append(Finding(kind: .unsound, text: "\(integrity ?? "")")) }
        guard isStore || id != 0 else { return findings }
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path)).facade
        findings += try await storage.verify().findings.map { Finding(kind: .unsound, text: "in place: \($0)") }
        try await storage.close()
        return findings
    }
}
