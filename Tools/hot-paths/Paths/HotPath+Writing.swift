import Foundation
import StorageKit
import StorageKitTool
import StorageLog

/// Ways into the log. All but ``singleSaves`` and ``importLines`` run on one thread.
extension HotPath {
    static let narrowUpdates = HotPath(
        "narrow-update", operations: 2_000, "one column of a row updated, a commit each: capture, encode, append"
    ) { folder, count in
        let storage = try folder.store { $0.autoSchema(HotPathRowRecord.self) }
        try storage.commitNow(1) { _, tx in try tx.save((0..<500).map { HotPathRow($0) }) }
        func update(_ version: Int) throws {
            try storage.commitNow(count) { number, tx in
                let update = try tx.writer.statement("UPDATE people SET age = ? WHERE id = ?")
                update.bind(Int64(100 + version), at: 1)
                update.bind(Int64(number % 500), at: 2)
                try update.execute()
            }
        }
        try update(1)
        try Callgrind.count { try update(2) }
    }

    static let wideInserts = HotPath(
        "wide-insert", operations: 1_000, "rows of 30 columns, every third one null, inserted in one commit"
    ) { folder, count in
        let names = (0..<30).map { "c\($0)" }
        let storage = try folder.store { schema in
            schema.migration("wide") { db in
                try db.execute(
                    sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, \(names.joined(separator: ", ")))")
            }
        }
        let sql = "INSERT INTO wide VALUES (?\(String(repeating: ", ?", count: names.count)))"
        func insert(from first: Int) throws {
            try storage.commitNow(1) { _, tx in
                let insert = try tx.writer.statement(sql)
                for id in first..<first + count {
                    insert.bind(Int64(id), at: 1)
                    // What isn't bound again is null.
                    for column in names.indices where column % 3 == 1 {
                        insert.bind(Int64(id * column % 1_009), at: Int32(column + 2))
                    }
                    for column in names.indices where column % 3 == 2 {
                        insert.bind(text: "value \(id * column % 211)", at: Int32(column + 2))
                    }
                    try insert.execute()
                }
            }
        }
        try insert(from: 0)
        try Callgrind.count { try insert(from: count) }
    }

    static let typedSave = HotPath("typed-save", operations: 2_000, "entities saved in one commit by the typed API") {
        folder, count in
        let storage = try folder.store { $0.autoSchema(HotPathRowRecord.self) }
        func save(from first: Int) throws {
            let rows = (first..<first + count).map { HotPathRow($0) }
            try storage.commitNow(1) { _, tx in try tx.save(rows) }
        }
        try save(from: 0)
        try Callgrind.count { try save(from: count) }
    }

    static let singleSaves = HotPath(
        "single-save", operations: 200,
        "one entity after another by `await storage.save`: the queue, its threads and the WAL"
    ) { folder, count in
        let storage = try folder.store { $0.autoSchema(HotPathRowRecord.self) }
        func save(from first: Int) async throws {
            for id in first..<first + count { try await storage.save(HotPathRow(id)) }
        }
        try await save(from: 0)
        try await Callgrind.count { try await save(from: count) }
    }

    static let bulkUpdate = HotPath("bulk-update", operations: 4_000, "rows changed by one UPDATE statement of raw SQL")
    {
        folder, count in
        let storage = try folder.store { $0.autoSchema(HotPathRowRecord.self) }
        try storage.commitNow(1) { _, tx in try tx.save((0..<count).map { HotPathRow($0) }) }
        func update() throws {
            try storage.commitNow(1) { _, tx in try tx.execute("UPDATE people SET age = age + 1, score = score * 2") }
        }
        try update()
        try Callgrind.count { try update() }
    }

    static let referenceUpdates = HotPath(
        "reference-update", operations: 4_000, "foreign keys changed in one commit, a statement and often a page each"
    ) { folder, count in
        let storage = try folder.store { schema in
            schema.migration("albums") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE artists (id INTEGER PRIMARY KEY);
                        CREATE TABLE albums (id INTEGER PRIMARY KEY, artist INTEGER REFERENCES artists (id), title TEXT)
                        """)
            }
        }
        // On many pages: a statement's end must not depend on how many the commit has changed.
        let title = String(repeating: "title ", count: 60)
        try storage.commitNow(1) { _, tx in
            try tx.execute("INSERT INTO artists VALUES (0), (1), (2)")
            let insert = try tx.writer.statement("INSERT INTO albums VALUES (?, 0, ?)")
            for id in 0..<count {
                insert.bind(Int64(id), at: 1)
                insert.bind(text: title, at: 2)
                try insert.execute()
            }
        }
        func update(to artist: Int) throws {
            try storage.commitNow(1) { _, tx in
                let update = try tx.writer.statement("UPDATE albums SET artist = ? WHERE id = ?")
                for number in 0..<count {
                    update.bind(Int64(artist), at: 1)
                    update.bind(Int64(number * 1_009 % count), at: 2)
                    try update.execute()
                }
            }
        }
        try update(to: 1)
        try Callgrind.count { try update(to: 2) }
    }

    static let importLines = HotPath(
        "import-line", operations: 20_000, "lines of a change history, by `storagekit import`"
    ) {
        folder, count in
        func file(_ name: String, _ lines: Int) throws -> String {
            let url = folder.file(name)
            try Data((0..<lines).map(line).joined().utf8).write(to: url)
            return url.path
        }
        func load(_ history: String) async throws {
            let status = await CommandLineTool.run(["import", "--quiet", "-s", "\(history).sqlite", history])
            guard status == 0 else { throw HotPathError("The import ended with \(status).") }
        }
        let (few, many) = (try file("few.jsonl", 100), try file("many.jsonl", count))
        try await load(few)
        try await Callgrind.count { try await load(many) }
    }

    /// The first 2,000 lines insert rows, and those behind them update them.
    private static func line(_ number: Int) -> String {
        let id = number % 2_000
        let (head, isNew) = (
            "{\"tx\":\(number / 4),\"at\":\"2024-05-01T10:00:00.000000Z\",\"actor\":\"anna\"", number < 2_000
        )
        return head
            + ",\"op\":\"\(isNew ? "insert" : "update")\",\"table\":\"levels\",\"id\":\"\(id)\",\"row\":{\"name\":\"level \(id)\","
            + "\"price\":\(number % 997),\"amount\":\(Double(number % 4_001) / 4),\"isOpen\":\(number % 2 == 0)}}\n"
    }

    static let sealing = HotPath(
        "seal", operations: 8 * 1_024, "events of full windows sealed: decode, merge, encode, compress, read back"
    ) {
        folder, count in
        let storage = try folder.store { $0.autoSchema(HotPathRowRecord.self) }
        try storage.commitNow(1) { _, tx in try tx.save((0..<512).map { HotPathRow($0) }) }
        func fill(_ version: Int) throws {
            // In transactions of their own: full windows of one are written in their final form.
            for number in 0..<count / 8 {
                let rows = (number * 8..<number * 8 + 8).map { HotPathRow($0 % 512, version: version + $0 / 512) }
                try storage.commitNow(1) { _, tx in try tx.save(rows) }
            }
        }
        try fill(1)
        try await storage.seal()
        try fill(41)
        try await Callgrind.count { try await storage.seal() }
    }

    static let fullText = HotPath(
        "full-text-commit", operations: 100, "a document saved into a full-text index, a commit and a transaction each"
    ) { folder, count in
        let storage = try folder.store {
            $0.autoSchema(HotPathNoteRecord.self)
            $0.addFullTextSearch(table: "notes", columns: ["title", "body"])
        }
        func save(from first: Int) throws {
            for id in first..<first + count { try storage.commitNow(1) { _, tx in try tx.save(HotPathNote(id)) } }
        }
        try save(from: 0)
        try Callgrind.count { try save(from: count) }
    }
}
