import Foundation
import GRDB
import TestSupport
import Testing

extension AdoptTests {
    /// The statements of the guide, which print the statements that are to be run.
    private static func leavingStatements() throws -> [String] {
        let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/StorageKit/Documentation.docc/Guides/Adopting.md")
        let text = try String(contentsOf: guide, encoding: .utf8)
        let start = try #require(text.range(of: "<<'SQL' > plain.sql\n"))
        let end = try #require(text.range(of: "\nSQL\n", range: start.upperBound..<text.endIndex))
        return text[start.upperBound..<end.lowerBound].components(separatedBy: ";\n")
    }

    /// A user may leave: nothing of StorageKit stays in the copy, and nothing of the user's is missing.
    @Test("The statements of the guide make a plain database of a store")
    func leaving() throws {
        let folder = try TemporaryFolder()
        let (database, store, plain) = (folder.path("chinook.db"), folder.path("app.sqlite"), folder.path("plain.db"))
        try ChinookDatabase.make(at: database, tracks: 100)
        try #require(try ToolProcess.run(["adopt", database, "-s", store], store: nil).status == 0)
        try #require(try ToolProcess.run(["backup", plain], store: store).status == 0)
        let statements = try Self.leavingStatements()
        let queue = try DatabaseQueue(path: plain)
        try queue.write { db in
            // All are printed before the first is run.
            let printed = try statements.flatMap { try String.fetchAll(db, sql: $0) }
            #expect(printed.count > ChinookDatabase.tables.count)
            for statement in printed { try db.execute(sql: statement) }
        }
        try queue.close()
        #expect(try Self.objects(at: plain) == Self.objects(at: database))
        for table in ChinookDatabase.tables {
            #expect(try Self.rows(of: table, at: plain) == Self.rows(of: table, at: database), "\(table)")
        }
        try DatabaseQueue(path: plain).read { db in
            let left = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_schema
                    WHERE sql LIKE '%storage!_%' ESCAPE '!' OR sql LIKE '%!_position%' ESCAPE '!'
                    """)
            #expect(left == [])
            let integrity = try String.fetchOne(db, sql: "PRAGMA integrity_check")
            #expect(integrity == "ok")
        }
    }
}
