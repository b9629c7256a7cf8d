import Foundation
import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageKitTool

/// Swift takes a quote and a mark behind it for one character. SQL, CSV and shells don't, and would read on behind it.
struct CombinedQuoteTests {
    private let folder: TemporaryFolder
    static let texts = [
        "'\u{301}); DROP TABLE posts; --", "x'\u{301}y", "a\"\u{301}b,c", "'\u{FE0F}'", "\"\u{200D}\"",
    ]

    init() throws {
        folder = try TemporaryFolder()
        let lines = try Self.texts.enumerated().map { index, text in
            let row = try String(decoding: JSONEncoder().encode(["t": text, "'\u{301}": text]), as: UTF8.self)
            let id = try String(decoding: JSONEncoder().encode(text), as: UTF8.self)
            return #"{"tx":\#(index + 1),"op":"insert","table":"\"\u0301 posts","id":\#(id),"row":\#(row)}"#
        }
        let file = folder.path("history.jsonl")
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
        let imported = try ToolProcess.run(["import", file], store: folder.path())
        try #require(imported.status == 0, "\(imported.errors)")
    }

    private var table: String { "\"\"\"\u{301} posts\"" }

    @Test("A difference in SQL makes the same rows")
    func differenceInSQL() throws {
        let difference = try ToolProcess.run(["diff", "@0", "head", "--format", "sql"], store: folder.path())
        let database = try DatabaseQueue()
        let found = try database.writeWithoutTransaction { db in
            try db.execute(sql: difference.output)
            return try Row.fetchAll(db, sql: "SELECT id, t, \"'\u{301}\" FROM \(table) ORDER BY _rowid_").map { row in
                (0..<3).map { row[$0] as String }
            }
        }
        #expect(Set(found) == Set(Self.texts.map { [$0, $0, $0] }))
    }

    @Test("A table whose name has such a quote is rebuilt")
    func rebuild() throws {
        let rebuilt = try ToolProcess.run(["rebuild"], store: folder.path())
        #expect(rebuilt.status == 0, "\(rebuilt.errors)")
        #expect(try ToolProcess.run(["verify"], store: folder.path()).status == 0)
    }

    @Test("Texts in CSV end where they end")
    func csv() throws {
        let text = try ToolProcess.run(
            ["sql", "SELECT t FROM \(table)", "--format", "csv"], store: folder.path()
        ).output
        let quoted = Self.texts.map { text in
            text.unicodeScalars.contains("\"")
                ? "\"" + text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\"" : text
        }
        #expect(text == (["t"] + quoted).map { $0 + "\n" }.joined())
    }

    @Test("A shell reads a quoted word as one word", arguments: texts)
    func shellWords(text: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "printf %s \(text.quotedAsShellWord)"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.start()
        let output = pipe.fileHandleForReading.allBytes()
        process.waitForEnd()
        #expect(Array(output) == Array(text.utf8))
    }
}
