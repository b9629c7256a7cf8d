import Foundation
import StorageKit
import TestSupport
import Testing

/// `export` of an `import` gives the same operations back, whatever they hold.
struct ImportExportTests {
    private func line(
        _ tx: Int, _ op: String, _ id: String, _ row: String, table: String = "t", at: String = "2024-05-01T10:00:00Z"
    ) -> String {
        """
        {"tx":\(tx),"at":"\(at)","actor":"anna","op":"\(op)","table":"\(table)","id":"\(id)","row":\(row)}
        """
    }

    /// The operations as JSON objects, rows without nulls.
    private func normalized(_ lines: [String]) throws -> [NSDictionary] {
        try lines.filter { !$0.isEmpty }.map { line in
            var object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            if let row = object["row"] as? [String: Any] { object["row"] = row.filter { !($0.value is NSNull) } }
            return object as NSDictionary
        }
    }

    private func expectRoundTrip(_ lines: [String], arguments: [String] = []) throws {
        let folder = try TemporaryFolder()
        let outcome = try ToolProcess.run(["import", try folder.write(lines)] + arguments, store: folder.path())
        #expect(outcome.status == 0, "\(outcome.errors)")
        let exported = try ToolProcess.run(["export"], store: folder.path())
        #expect(exported.status == 0, "\(exported.errors)")
        let output = exported.output.components(separatedBy: "\n")
        #expect(try normalized(output) == normalized(lines))
        // JSONSerialization doesn't tell 1 from 1.0, nor true from 1.
        for (text, number) in [("1.0", "\"real\":1.0"), ("true", "\"yes\":true")]
        where lines.contains(where: { $0.contains(number) }) {
            #expect(exported.output.contains(number), "\(text) has become something else")
        }
        let verified = try ToolProcess.run(["verify"], store: folder.path())
        #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
    }

    @Test("Values of every kind round-trip")
    func valuesOfEveryKind() throws {
        try expectRoundTrip([
            line(
                1, "insert", "a",
                #"{"real":1.0,"int":1,"yes":true,"text":"é\u0301 \"x\"","list":[1,{"a":null}],"none":null}"#),
            line(1, "insert", "b", #"{"real":-0.0,"int":9223372036854775807,"yes":false,"text":"","list":{}}"#),
            line(2, "update", "a", #"{"real":2.5,"int":-9223372036854775808,"text":"[1]"}"#),
            line(2, "insert", "blob", #"{"blob":{"$blob":"AAEC/w=="},"far":{"$real":"-Infinity"}}"#),
            line(3, "delete", "b", "null"), line(4, "insert", "b", #"{"text":"back"}"#),
        ])
    }

    @Test("Columns of mixed kinds round-trip")
    func columnsOfMixedKinds() throws {
        let values = ["1", "true", "0", "false", "1.0", #""1""#, #""true""#, "[1]", #"{"a":1}"#, #""[1]""#]
        // Every day, one for each kind of column.
        for first in testScale > 1 ? values : ["1", "true", "1.0", #""1""#, "[1]"] {
            var lines = [line(1, "insert", "first", "{\"x\":\(first)}")]
            for (index, value) in values.enumerated() {
                lines.append(line(index + 2, "insert", "\(index)", "{\"x\":\(value)}"))
            }
            for (index, value) in values.reversed().enumerated() {
                guard value != values[index] else { continue }
                lines.append(line(index + 50, "update", "\(index)", "{\"x\":\(value)}"))
            }
            let renumbered = lines.enumerated().map { index, line in
                line.replacingOccurrences(of: #""tx":\d+"#, with: "\"tx\":\(index + 1)", options: .regularExpression)
            }
            try expectRoundTrip(renumbered)
        }
    }

    /// The source of such a value would be a blob like the others.
    @Test(
        "A column of blobs refuses what it can't distinguish from a blob",
        arguments: ["false", "[1,2]", #"{"$blob":5}"#])
    func columnsOfBlobs(value: String) throws {
        let blob = line(1, "insert", "blob", #"{"c":{"$blob":"AP8="}}"#)
        let others = ["5", "1.5", #""text""#, #"{"$blob":"ZmFsc2U="}"#].enumerated().map { index, value in
            line(index + 2, "insert", "\(index)", "{\"c\":\(value)}")
        }
        try expectRoundTrip([blob] + others)
        let folder = try TemporaryFolder()
        let file = try folder.write([blob, line(9, "insert", "other", "{\"c\":\(value)}")] + others)
        let refused = try ToolProcess.run(["import", file], store: folder.path())
        #expect(refused.status == 7)
        #expect(refused.errors.contains("Line 2"))
        #expect(refused.errors.contains("the column c begins with a blob"))
        _ = try ToolProcess.run(["import", "--skip-invalid", file], store: folder.path())
        let exported = try ToolProcess.run(["export"], store: folder.path()).output.components(separatedBy: "\n")
        #expect(
            try normalized(exported).map { $0["row"] as? NSDictionary }
                == normalized([blob] + others).map { $0["row"] as? NSDictionary })
    }

    /// Blobs that read like JSON, also like the form in which blobs are written.
    private static let blobs = [
        "", "1", "0", "1.5", "01", " 1", "null", "true", #""a""#, #"{"a":1}"#, #"{"a": 1}"#, "[]", "\u{1}x",
        #"{"$blob":"MQ=="}"#, #"{"$blob":"eyIkYmxvYiI6Ik1RPT0ifQ=="}"#, #"{"$blob":"AP8="}"#, #"{"$real":"Infinity"}"#,
        "0.12345678901234567891", "1.50",
    ]

    @Test(
        "Blobs round-trip in columns of every kind",
        arguments: ["true", "1", "1.5", #""a""#, #"{"$blob":"AP8="}"#, #"{"a":1}"#])
    func blobsInColumnsOfEveryKind(first: String) throws {
        var lines = [line(1, "insert", "first", "{\"x\":\(first)}")]
        for (index, blob) in Self.blobs.enumerated() {
            let value = #"{"$blob":"\#(Data(blob.utf8).base64EncodedString())"}"#
            lines.append(line(index + 2, "insert", "\(index)", "{\"x\":\(value)}"))
        }
        try expectRoundTrip(lines)
    }

    /// SQL stores any blob in any column; x'31' read like the number 1.
    @Test(
        "An export is imported with the same blobs as SQL has stored",
        arguments: ["true", "1", "1.5", #""a""#, #"{"$blob":"AP8="}"#])
    func blobsOfSQL(first: String) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write([line(1, "insert", "first", "{\"x\":\(first)}")])
        #expect(try ToolProcess.run(["import", file], store: folder.path("first.sqlite")).status == 0)
        let rows = Self.blobs.enumerated().map { index, blob in
            "('\(index)', x'\(blob.utf8.map { String(format: "%02x", $0) }.joined())')"
        }
        let statement = "INSERT INTO t(id, x) VALUES \(rows.joined(separator: ", "))"
        let changed = try ToolProcess.run(["exec", statement, "--yes"], store: folder.path("first.sqlite"))
        #expect(changed.status == 0, "\(changed.errors)")
        let exported = try ToolProcess.run(["export"], store: folder.path("first.sqlite")).output
        let copied = try ToolProcess.run(
            ["import", try folder.write(exported.split(separator: "\n").map(String.init))],
            store: folder.path("second.sqlite"))
        #expect(copied.status == 0, "\(copied.errors)")
        func stored(_ name: String) throws -> String {
            let query = "SELECT id, typeof(x), hex(x) FROM t ORDER BY id"
            return try ToolProcess.run(["sql", query, "--format", "csv"], store: folder.path(name)).output
        }
        #expect(try stored("second.sqlite") == stored("first.sqlite"))
    }

    /// A hub keeps a text in a column of JSON as the client's source, with its escapes.
    @Test("A text of a hub in a column of JSON is exported as a text")
    func textsOfAHub() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write([line(1, "insert", "first", #"{"x":{"a":1}}"#)])
        #expect(try ToolProcess.run(["import", file], store: folder.path("first.sqlite")).status == 0)
        let source = #""\u00e9\/x""#
        let blob = source.utf8.map { String(format: "%02x", $0) }.joined()
        let statement = "INSERT INTO t(id, x) VALUES ('1', x'\(blob)')"
        let changed = try ToolProcess.run(["exec", statement, "--yes"], store: folder.path("first.sqlite"))
        #expect(changed.status == 0, "\(changed.errors)")
        let exported = try ToolProcess.run(["export"], store: folder.path("first.sqlite")).output
        #expect(exported.contains(#""x":\#(source)"#), "\(exported)")
        let copied = try ToolProcess.run(
            ["import", try folder.write(exported.split(separator: "\n").map(String.init))],
            store: folder.path("second.sqlite"))
        #expect(copied.status == 0, "\(copied.errors)")
        let again = try ToolProcess.run(["export"], store: folder.path("second.sqlite")).output
        #expect(again.contains(#""x":"é/x""#), "\(again)")
    }

    @Test("Names may be any text")
    func namesOfAnyText() throws {
        try expectRoundTrip([
            line(1, "insert", "1", #"{"Name":1,"name":2,"_position":3,"rowid":4,"a\"b":5,"日本":6}"#, table: "Posts"),
            line(2, "insert", "1", #"{"x":1}"#, table: "posts"),
            line(3, "insert", "1", #"{"x":1}"#, table: "sqlite_master"),
            line(4, "insert", "1", #"{"x":1}"#, table: "storage_log"),
            line(5, "insert", "1/#%", #"{"x":1}"#, table: "a/b"),
        ])
    }

    @Test("Rows may have an id of their own")
    func rowsWithOwnIds() throws {
        try expectRoundTrip([
            line(1, "insert", "7", #"{"id":"7","x":1}"#), line(2, "update", "7", #"{"id":"7","x":2}"#),
        ])
        try expectRoundTrip([line(1, "insert", "7", #"{"id":7,"x":1}"#), line(2, "insert", "8", #"{"id":"y"}"#)])
        let mixed = [line(1, "insert", "7", #"{"id":"7"}"#), line(2, "insert", "8", #"{"x":1}"#)]
        try expectRoundTrip(mixed, arguments: ["--key-column", "_id"])
        let folder = try TemporaryFolder()
        let refused = try ToolProcess.run(["import", try folder.write(mixed)], store: folder.path())
        #expect(refused.status == 7)
        #expect(refused.errors.contains("Line 2"))
        #expect(refused.errors.contains("--key-column"))
    }

    /// An import finds out by a table's first row whether its key has the name `id`.
    @Test("An export is imported again if the first row's own id is NULL")
    func nullAsOwnId() throws {
        let folder = try TemporaryFolder()
        let lines = [line(1, "insert", "7", #"{"id":null,"x":1}"#), line(2, "insert", "8", #"{"id":"y"}"#)]
        let first = try ToolProcess.run(["import", try folder.write(lines)], store: folder.path("first.sqlite"))
        #expect(first.status == 0, "\(first)")
        let exported = try ToolProcess.run(["export"], store: folder.path("first.sqlite")).output
        let file = try folder.write([exported], "exported.jsonl")
        let second = try ToolProcess.run(["import", file], store: folder.path("second.sqlite"))
        #expect(second.status == 0, "\(second)")
        #expect(try ToolProcess.run(["export"], store: folder.path("second.sqlite")).output == exported)
    }

    @Test("An empty id is a key like any other")
    func emptyId() throws {
        try expectRoundTrip([
            line(1, "insert", "", #"{"x":1}"#), line(1, "insert", "a", #"{"x":1}"#),
            line(2, "update", "", #"{"x":2}"#), line(3, "delete", "", "null"), line(4, "insert", "", #"{"x":3}"#),
        ])
        try expectRoundTrip([line(1, "insert", "", #"{"id":"","x":1}"#), line(2, "delete", "", "null")])
    }

    /// What was dropped has a history too, beside that of what has its name since.
    @Test("A column or table that has the name of a dropped one is another")
    func namesOfDropped() async throws {
        let folder = try TemporaryFolder()
        func open(again: Bool = false) throws -> Storage {
            try StorageKit.start(at: URL(fileURLWithPath: folder.path())) { schema in
                schema.migration("tables") { db in
                    try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, c, d)")
                    try db.execute(sql: "CREATE TABLE u(id INTEGER PRIMARY KEY, x)")
                }
                if again {
                    schema.migration("again") { try $0.execute(sql: "CREATE TABLE u(id INTEGER PRIMARY KEY, y)") }
                }
                for table in ["t", "u"] { schema.adopt(table) }
            }.facade
        }
        let first = try open()
        for sql in [
            "INSERT INTO t(id, c, d) VALUES (1, 'old', 0), (2, 'old', 0)",
            "ALTER TABLE t DROP COLUMN c; ALTER TABLE t ADD COLUMN c", "UPDATE t SET c = 'new' WHERE id = 1",
            "INSERT INTO u(id, x) VALUES (1, 'old')", "DROP TABLE u",
        ] {
            try await first.write { try $0.execute(sql) }
        }
        try await first.close()
        let second = try open(again: true)
        try await second.write { try $0.execute("INSERT INTO u(id, y) VALUES (1, 'new')") }
        try await second.close()
        let lines = try ToolProcess.run(["export"], store: folder.path()).output.split(separator: "\n")
        let rows = lines.map { $0.split(separator: #""row":"#).last.map(String.init) ?? "" }
        #expect(
            rows == [
                #"{"id":1,"c (gone)":"old","d":0}}"#, #"{"id":2,"c (gone)":"old","d":0}}"#,
                #"{"id":1,"c (gone)":"old","d":0,"c":"new"}}"#, #"{"id":1,"x":"old"}}"#, #"{"id":1,"y":"new"}}"#,
            ])
        #expect(lines.filter { $0.contains(#""table":"u (gone)""#) }.count == 1)
        // An import numbers its commits without those that changed the schema.
        var numbers: [Substring] = []
        let renumbered = try lines.map { line in
            let found = try #require(line.firstMatch(of: /"tx":(\d+)/))
            if numbers.last != found.1 { numbers.append(found.1) }
            return String(line).replacing(found.0, with: "\"tx\":\(numbers.count)")
        }
        try expectRoundTrip(renumbered)
        // A table is chosen by the name that the export gives it.
        for (table, row) in [("u", #"{"id":1,"y":"new"}"#), ("u (gone)", #"{"id":1,"x":"old"}"#)] {
            let chosen = try ToolProcess.run(["export", "--table", table], store: folder.path())
            #expect(chosen.output.split(separator: "\n").count == 1, "\(table): \(chosen)")
            #expect(chosen.output.contains(row), "\(table): \(chosen)")
        }
        let missing = try ToolProcess.run(["export", "--table", "u", "--table", "nosuch"], store: folder.path())
        #expect(missing.status == 3, "\(missing)")
        #expect(missing.errors.contains(#"There is no table "nosuch""#), "\(missing)")
        #expect(missing.output.isEmpty, "\(missing)")
    }

    /// A text that looks like a number is found by the number; what else comes is kept as it is.
    @Test("Keys and texts compare with numbers")
    func textsCompareWithNumbers() throws {
        let folder = try TemporaryFolder()
        let lines = [
            line(1, "insert", "42", #"{"zip":"10115","n":1}"#), line(2, "insert", "007", #"{"zip":10115,"n":2}"#),
            line(3, "insert", "x", #"{"zip":1.0,"n":"3"}"#), line(4, "update", "x", #"{"zip":true,"n":1.0}"#),
        ]
        let imported = try ToolProcess.run(["import", try folder.write(lines)], store: folder.path())
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(imported.output.contains("mixed t.zip: 3 values of another kind"), "\(imported.output)")
        func answer(_ sql: String) throws -> String {
            let outcome = try ToolProcess.run(["sql", sql, "--format", "csv"], store: folder.path())
            #expect(outcome.status == 0, "\(sql): \(outcome.errors)")
            return outcome.output.split(separator: "\n").dropFirst().joined(separator: " ")
        }
        #expect(try answer("SELECT n FROM t WHERE id = 42") == "1")
        #expect(try answer("SELECT n FROM t WHERE id = 7") == "")
        #expect(try answer("SELECT n FROM t WHERE zip = 10115") == "1")
        #expect(try answer("SELECT count(*) FROM history_t WHERE id = 42") == "1")
        #expect(try answer("SELECT count(*) FROM changes_t WHERE id = 42 AND new_zip = 10115") == "1")
        let past = try ToolProcess.run(
            ["at", "t:1", "SELECT n FROM t WHERE id = 42", "--format", "csv"], store: folder.path())
        #expect(past.output == "n\n1\n")
        try expectRoundTrip(lines)
        let exported = try ToolProcess.run(["export"], store: folder.path()).output
        for text in [#""zip":10115,"#, #""zip":1.0,"#, #""zip":true,"#, #""n":1.0"#] {
            #expect(exported.contains(text), "\(text)")
        }
        #expect(try ToolProcess.run(["rebuild", "--compare"], store: folder.path()).status == 0)
    }

    @Test("What an import loses or renames is in its summary")
    func lossesAreCounted() throws {
        let folder = try TemporaryFolder()
        let lines = [
            line(1, "insert", "a", #"{"Name":1,"name":2}"#, at: "2024-05-01T10:00:00.1234567Z"),
            line(2, "insert", "b", #"{"name":2}"#, at: "2024-05-01T10:00:00.123456700+00:00"),
            line(3, "insert", "c", #"{"name":2}"#, at: "2024-05-01T10:00:00.123457000Z"),
        ]
        let outcome = try ToolProcess.run(["import", try folder.write(lines)], store: folder.path())
        #expect(outcome.output.contains("2 commits had a time finer than a microsecond"), "\(outcome.output)")
        #expect(outcome.output.contains("name INTEGER (in SQL name_2)"), "\(outcome.output)")
    }

    @Test("A name that is too long names its line and byte")
    func longNames() throws {
        let long = String(repeating: "x", count: 300)
        for (bad, byte) in [
            (line(2, "insert", "b", "{\"\(long)\":1}"), "Line 2, byte "),
            (line(2, "insert", "b", "{}", table: long), "Line 2, byte "),
        ] {
            let folder = try TemporaryFolder()
            let file = try folder.write([line(1, "insert", "a", "{}"), bad])
            let outcome = try ToolProcess.run(["import", file], store: folder.path())
            #expect(outcome.status == 7, "\(outcome.errors)")
            #expect(outcome.errors.contains(byte), "\(outcome.errors)")
            #expect(outcome.errors.contains("has 300 bytes"), "\(outcome.errors)")
        }
    }

    /// `producer | storagekit import -`: others see a commit when the first line of the next has come.
    @Test("A slow pipe's commits are stored as they come")
    func slowPipe() async throws {
        let folder = try TemporaryFolder()
        let process = ToolProcess.prepared(["import", "--quiet", "-"], store: folder.path())
        let pipe = Pipe()
        process.standardInput = pipe
        try process.start()
        func send(_ numbers: ClosedRange<Int>) throws {
            let text = numbers.map { line($0, "insert", "\($0)", "{\"n\":\($0)}") + "\n" }.joined()
            try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        }
        try send(1...3)
        func count() throws -> String {
            try ToolProcess.run(["sql", "SELECT count(*) AS n FROM t", "--format", "csv"], store: folder.path()).output
        }
        try await eventually {
            if try count() == "n\n2\n" { return true }
            try await Task.sleep(for: .milliseconds(50))
            return false
        }
        try send(4...4)
        try pipe.fileHandleForWriting.close()
        process.waitForEnd()
        #expect(process.terminationStatus == 0)
        #expect(try count() == "n\n4\n")
    }

    @Test("A bad line fails only its commit")
    func badLineFailsItsCommit() throws {
        let lines = [
            line(1, "insert", "a", #"{"x":1}"#), line(2, "insert", "b", #"{"x":1}"#),
            line(2, "insert", "a", #"{"x":2}"#),
            line(3, "insert", "c", #"{"y":1}"#), "{\"tx\":4,", line(5, "update", "nobody", #"{"x":1}"#),
            line(6, "insert", "d", #"{"x":12345678901234567890}"#), line(7, "delete", "a", "null"),
        ]
        let folder = try TemporaryFolder()
        let file = try folder.write(lines)
        let stopped = try ToolProcess.run(["import", file], store: folder.path())
        #expect(stopped.status == 7, "\(stopped.errors)")
        #expect(stopped.errors.contains("Line 3"), "\(stopped.errors)")
        let first = try ToolProcess.run(["export"], store: folder.path())
        #expect(first.output.split(separator: "\n").count == 1, "\(first.output)")
        let skipping = try ToolProcess.run(["import", file, "--skip-invalid"], store: folder.path())
        #expect(skipping.status == 8, "\(skipping.errors)")
        let ids = try normalized(
            try ToolProcess.run(["export"], store: folder.path()).output.components(separatedBy: "\n")
        ).map { "\($0["op"] ?? "") \($0["id"] ?? "")" }
        #expect(ids == ["insert a", "insert c", "delete a"])
        #expect(try ToolProcess.run(["verify"], store: folder.path()).status == 0)
    }

    /// Where a row was deleted is written once for many commits, so commits that fail in between must leave nothing of it: `verify`
    /// compares the links of all events, and the table of deleted rows.
    @Test("Tags, notes and operations aren't imported")
    func storesOwnRecords() throws {
        let folder = try TemporaryFolder()
        var lines = [line(1, "insert", "a", #"{"x":1}"#)]
        for table in ["storage_tag", "storage_note", "storage_operation", "storage_catalog"] {
            lines.append(#"{"tx":2,"op":"insert","table":"\#(table)","id":"1","row":{"position":3}}"#)
            let refused = try ToolProcess.run(["import", try folder.write(lines)], store: folder.path())
            #expect(refused.status == 7, "\(refused.errors)")
            #expect(refused.errors.contains("names that begin with storage_ are reserved"), "\(refused.errors)")
            lines.removeLast()
        }
        #expect(try ToolProcess.run(["verify"], store: folder.path()).status == 0)
    }

    @Test("Rows that go and come back are linked, whatever fails in between")
    func deletedRowsAcrossFailedCommits() throws {
        let bad = #"{"tx":"#
        let folder = try TemporaryFolder()
        let file = try folder.write([
            line(1, "insert", "a", #"{"x":1}"#), line(1, "insert", "b", #"{"x":1}"#), line(2, "delete", "a", "null"),
            // Takes the place of the deleted row up, and is undone.
            line(3, "insert", "a", #"{"x":2}"#), bad,
            line(4, "insert", "a", #"{"x":3}"#),
            // Leaves a deleted row that is there, and is undone.
            line(5, "delete", "b", "null"), bad,
            line(6, "update", "b", #"{"x":4}"#),
            line(7, "delete", "a", "null"), line(7, "insert", "a", #"{"x":5}"#), line(7, "delete", "a", "null"),
            line(8, "delete", "b", "null"), line(9, "insert", "b", #"{"x":6}"#), line(10, "insert", "a", #"{"x":7}"#),
            line(11, "delete", "b", "null"),
        ])
        let outcome = try ToolProcess.run(["import", file, "--skip-invalid"], store: folder.path())
        #expect(outcome.status == 8, "\(outcome.errors)")
        let verified = try ToolProcess.run(["verify"], store: folder.path())
        #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
        let later = try folder.write(
            [line(20, "insert", "b", #"{"x":8}"#), line(21, "delete", "a", "null")], "2.jsonl")
        #expect(try ToolProcess.run(["import", later], store: folder.path()).status == 0)
        #expect(try ToolProcess.run(["verify"], store: folder.path()).status == 0)
        for (row, events) in [("t/a", 8), ("t/b", 6)] {
            let history = try ToolProcess.run(["history", row, "--format", "jsonl"], store: folder.path())
            #expect(history.output.split(separator: "\n").count == events, "\(row): \(history.output)\(history.errors)")
        }
    }

    /// A row finds its columns by the names of the row before.
    @Test("Rows with other names, orders and nulls than the row before", arguments: [UInt64](1...6))
    func changingColumns(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let names = ["a", "b", "c", "a b", "é", "aa", "id"]
        var lines: [String] = []
        for number in 1...200 {
            // Often the same names again, so that what was remembered is used.
            let chosen =
                Int.random(in: 0..<3, using: &random) > 0
                ? names.filter { _ in seed % 2 == 0 || number % 7 > 0 } : names.shuffled(using: &random)
            let cells = chosen.filter { _ in Int.random(in: 0..<8, using: &random) > 0 }.map { name in
                // "c" has only nulls for long.
                let isNull = name == "c" ? number < 120 : Int.random(in: 0..<3, using: &random) == 0
                return #""\#(name)":\#(isNull ? "null" : String(number))"#
            }
            lines.append(line(number, "insert", "\(number)", "{\(cells.joined(separator: ","))}"))
        }
        try expectRoundTrip(lines, arguments: ["--key-column", "_id"])
    }

    /// A time goes on as that of every later commit, so one that can't be is a bad line, and one that goes back is kept beside it.
    @Test("Impossible times are bad lines and disturb no others")
    func impossibleTimes() throws {
        func at(_ time: String, _ tx: Int) -> String {
            #"{"tx":\#(tx),"at":"\#(time)","op":"insert","table":"posts","id":"\#(tx)","row":{"n":1}}"#
        }
        let folder = try TemporaryFolder()
        let file = try folder.write([
            at("2024-05-02T10:00:00Z", 1), at("9999-12-31T00:00:00Z", 2), at("2024-05-01T10:00:00Z", 3),
        ])
        let refused = try ToolProcess.run(["import", file], store: folder.path())
        let reason = "Line 2: The time of a commit would be 9999-12-31"
        #expect(refused.status == 7, "\(refused.status) \(refused.errors)")
        #expect(refused.errors.contains(reason), "\(refused.status) \(refused.errors)")
        let skipping = try ToolProcess.run(["import", file, "--skip-invalid"], store: folder.path())
        #expect(skipping.status == 8, "\(skipping.errors)")
        let log = try ToolProcess.run(
            ["log", "--table", "posts", "--reverse", "--format", "jsonl"], store: folder.path())
        let lines = log.output.split(separator: "\n")
        #expect(lines.count == 2, "\(lines)")
        #expect(lines.allSatisfy { $0.contains(#""time":"2024-05-02T10:00:00Z""#) }, "\(lines)")
        #expect(lines.map { $0.contains(#""clock":"2024-05-01T10:00:00Z""#) } == [false, true])
        let shown = try ToolProcess.run(["show", "@2"], store: folder.path())
        #expect(shown.status == 0, "\(shown.errors)")
    }

    @Test("Times can't get far ahead of the clock step by step")
    func timesFarAhead() throws {
        let year = Calendar(identifier: .gregorian).component(.year, from: Date())
        func after(_ years: Int, _ tx: Int) -> String {
            line(tx, "insert", "\(tx)", #"{"n":1}"#, at: "\(year + years)-01-01T00:00:00Z")
        }
        let folder = try TemporaryFolder()
        let steps = try folder.write([after(9, 1), after(18, 2), after(27, 3)], "steps.jsonl")
        let refused = try ToolProcess.run(["import", steps], store: folder.path())
        #expect(refused.status == 7, "\(refused)")
        let reason = "Line 2: The time of a commit would be \(year + 18)-01-01"
        #expect(refused.errors.contains(reason), "\(refused.errors)")
        #expect(refused.errors.contains("a program has to store it"), "\(refused.errors)")
        #expect(try ToolProcess.run(["export"], store: folder.path()).output.split(separator: "\n").count == 1)
        // Nor where each step opens the store.
        let next = try folder.write([after(18, 4)], "next.jsonl")
        #expect(try ToolProcess.run(["import", next], store: folder.path()).status == 7)
        // A time that the store has reached is accepted.
        let same = try folder.write([after(9, 5)], "same.jsonl")
        let accepted = try ToolProcess.run(["import", same], store: folder.path())
        #expect(accepted.status == 0, "\(accepted)")
    }

    @Test("A dry run reports what an import would do and changes nothing")
    func dryRun() throws {
        let folder = try TemporaryFolder()
        let first = try folder.write([line(1, "insert", "a", #"{"n":1}"#)], "1.jsonl")
        let second = try folder.write([line(2, "update", "a", #"{"n":2}"#), line(3, "insert", "b", "{}")], "2.jsonl")
        let onNothing = try ToolProcess.run(["import", first, "--dry-run"], store: folder.path())
        #expect(onNothing.status == 0, "\(onNothing.errors)")
        #expect(onNothing.output.contains("1 insert,"), "\(onNothing.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path()))
        #expect(try ToolProcess.run(["import", first], store: folder.path()).status == 0)
        let before = try ToolProcess.run(["export"], store: folder.path()).output
        let rehearsed = try ToolProcess.run(["import", second, "--dry-run"], store: folder.path())
        #expect(rehearsed.status == 0, "\(rehearsed.errors)")
        #expect(rehearsed.output.contains("1 insert, 1 update"))
        #expect(rehearsed.output.contains("nothing was changed"))
        #expect(try ToolProcess.run(["export"], store: folder.path()).output == before)
        let wrong = try folder.write([line(2, "insert", "a", "{}")], "3.jsonl")
        #expect(try ToolProcess.run(["import", wrong, "--dry-run"], store: folder.path()).status == 7)
    }

    @Test("A second import does nothing, and a longer file resumes")
    func repeatedImport() throws {
        let folder = try TemporaryFolder()
        var lines = (1...50).map { line($0, "insert", "\($0)", "{\"x\":\($0)}") }
        _ = try ToolProcess.run(["import", try folder.write(lines)], store: folder.path())
        let again = try ToolProcess.run(["import", try folder.write(lines)], store: folder.path())
        #expect(again.status == 0, "\(again.output)\(again.errors)")
        #expect(again.output.contains("imported 0 operations"), "\(again.output)\(again.errors)")
        lines += (51...60).map { line($0, "insert", "\($0)", "{\"x\":\($0)}") }
        let longer = try ToolProcess.run(["import", try folder.write(lines)], store: folder.path())
        #expect(longer.output.contains("imported 10 operations"), "\(longer.output)\(longer.errors)")
        // Between the two parts is the commit that records the first import.
        let exported = try ToolProcess.run(["export"], store: folder.path()).output.components(separatedBy: "\n")
        #expect(
            try normalized(exported)
                == normalized((1...60).map { line($0 > 50 ? $0 + 1 : $0, "insert", "\($0)", "{\"x\":\($0)}") }))
        lines[3] = line(4, "insert", "4", #"{"x":"other"}"#)
        let different = try ToolProcess.run(["import", try folder.write(lines)], store: folder.path())
        #expect(different.status == 7, "\(different.errors)")
    }

    @Test("A file whose last line had no line break can be continued")
    func continuedLastLine() throws {
        let folder = try TemporaryFolder()
        let file = folder.path("in.jsonl")
        let (first, second) = (line(1, "insert", "a", #"{"x":1}"#), line(2, "insert", "b", #"{"x":2}"#))
        for (content, status, count) in [
            (first, 0, 1), (first + "\n", 0, 0), (first + " ", 7, 0), (first + "\n" + second, 0, 1),
            (first + "\n" + second + "\n", 0, 0),
        ] {
            try content.write(toFile: file, atomically: true, encoding: .utf8)
            let outcome = try ToolProcess.run(["import", file], store: folder.path())
            #expect(outcome.status == status, "\(outcome.errors)")
            if status == 0 { #expect(outcome.output.contains("imported \(count) operation"), "\(outcome.output)") }
        }
    }

    @Test("An interrupted import resumes at the last whole commit")
    func interruptedImport() throws {
        let folder = try TemporaryFolder()
        let lines = (1...60_000).map { line($0 / 3, "insert", "\($0)", "{\"x\":\($0),\"text\":\"row number \($0)\"}") }
        let file = try folder.write(lines)
        for milliseconds in [60, 150, 300] {
            let process = ToolProcess.prepared(["import", "--quiet", file], store: folder.path())
            try process.start()
            // Killed at different moments of the import.
            usleep(UInt32(milliseconds * 1_000))
            kill(process.processIdentifier, SIGKILL)
            process.waitForEnd()
        }
        let last = try ToolProcess.run(["import", file], store: folder.path())
        #expect(last.status == 0, "\(last.errors)")
        let exported = try ToolProcess.run(["export"], store: folder.path()).output.split(separator: "\n")
        #expect(exported.count == lines.count)
        #expect(exported.last?.contains("\"id\":\"60000\"") ?? false)
        #expect(try ToolProcess.run(["verify"], store: folder.path()).status == 0)
    }

    /// Times before 1970 are negative, and Foundation's format of those before 1582 is of another calendar.
    @Test("Times before 1970 are kept")
    func timesBefore1970() throws {
        let folder = try TemporaryFolder()
        let times = [
            "0900-02-28T12:00:00Z", "1965-03-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z",
        ]
        let lines = times.enumerated().map { line($0 + 1, "insert", "row \($0)", #"{"x":1}"#, at: $1) }
        let outcome = try ToolProcess.run(["import", try folder.write(lines)], store: folder.path())
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(!outcome.output.contains("earlier time"), "\(outcome.output)")
        let exported = try ToolProcess.run(["export"], store: folder.path()).output
        let kept = try exported.split(separator: "\n").map { line in
            String(try #require(line.firstMatch(of: /"at":"([^"]+)"/)).output.1)
        }
        #expect(kept == times)
        func answer(_ words: String...) throws -> String {
            let outcome = try ToolProcess.run(words, store: folder.path())
            #expect(outcome.status == 0, "\(words): \(outcome.errors)")
            return outcome.output
        }
        let log = try answer("log", "--template", "{time}")
        #expect(log == times.reversed().map { "\($0)\n" }.joined())
        #expect(
            try answer("sql", "SELECT time FROM commits WHERE number <= 2", "--format", "csv")
                == "time\n0900-02-28T12:00:00.000000Z\n1965-03-01T00:00:00.000000Z\n")
        #expect(try answer("log", "--until", "1965-03-01T00:00:00Z", "--template", "{commit}") == "t:2\nt:1\n")
        #expect(try answer("verify").isEmpty == false)
    }

    @Test("Unchanged updates and earlier times are counted")
    func countedDeviations() throws {
        let folder = try TemporaryFolder()
        let outcome = try ToolProcess.run(
            [
                "import",
                try folder.write([
                    line(1, "insert", "a", #"{"x":1}"#), line(2, "update", "a", #"{"x":1}"#),
                    line(3, "update", "a", #"{"x":2}"#, at: "2024-04-01T00:00:00Z"),
                ]),
            ], store: folder.path())
        #expect(outcome.output.contains("1 update changed nothing"), "\(outcome.output)")
        #expect(outcome.output.contains("1 commit had an earlier time"), "\(outcome.output)")
        let exported = try ToolProcess.run(["export"], store: folder.path()).output
        #expect(exported.split(separator: "\n").count == 2)
        #expect(!exported.contains("2024-04-01"))
    }

    @Test("Standard input and compressed files are read too")
    func standardInputAndCompression() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write([line(1, "insert", "a", #"{"x":1}"#)])
        let piped = try ToolProcess.shell("cat \(file) | storagekit import -", store: folder.path())
        #expect(piped.status == 0, "\(piped.errors)")
        #expect(piped.output.contains("imported 1 operation "), "\(piped.errors)")
        let missing = try ToolProcess.run(["import", folder.url.path + "/none.jsonl"], store: folder.path())
        #expect(missing.status == 3, "\(missing.errors)")
        let noStore = try ToolProcess.run(["export"], store: folder.url.path + "/none.sqlite")
        #expect(noStore.status == 3, "\(noStore.errors)")
    }

    /// SQL of somebody else may put anything into a column; what is written must still be JSON Lines.
    @Test("Text that isn't JSON in a JSON column is written as text")
    func malformedJSONInColumn() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write([line(1, "insert", "a", #"{"x":[1]}"#), line(2, "insert", "b", #"{"x":[2]}"#)])
        _ = try ToolProcess.run(["import", file], store: folder.path())
        let storage = try StorageKit.start(at: URL(fileURLWithPath: folder.path())).facade
        try await storage.write { try $0.execute("UPDATE t SET x = 'no\njson' WHERE id = 'a'") }
        try await storage.close()
        let exported = try ToolProcess.run(["export"], store: folder.path()).output.components(separatedBy: "\n")
        let last = try #require(try normalized(exported).last)
        #expect((last["row"] as? [String: String])?["x"] == "no\njson")
    }

    /// Names come from the file, and could move the cursor or turn what is read around.
    @Test("Names in the summary are safe for a terminal")
    func namesInSummary() throws {
        let folder = try TemporaryFolder()
        let input = folder.path("input.jsonl")
        let lines = #"""
            {"tx":1,"op":"insert","table":"x\ny\u001b[31m","id":"1","row":{"a\u202eb":1}}
            {"tx":2,"op":"insert","table":"x\ny\u001b[31m","id":"2","row":{"a\u202eb":true}}
            """#
        try Data(lines.utf8).write(to: URL(fileURLWithPath: input))
        let outcome = try ToolProcess.run(["import", input], store: folder.path())
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("table x␊y␛[31m: a<U+202E>b INTEGER"), "\(outcome.output)")
        #expect(outcome.output.contains("mixed x␊y␛[31m.a<U+202E>b: 1 value of"), "\(outcome.output)")
    }

    /// A change of the schema costs a look at what has changed, and not one at every table and column: the columns of a row come at
    /// once, and with the first row its table.
    @Test("Many tables and columns are imported")
    func manyTablesAndColumns() throws {
        let folder = try TemporaryFolder()
        let input = folder.path("input.jsonl")
        var lines = (0..<60).map {
            #"{"tx":\#($0 + 1),"op":"insert","table":"t\#($0)","id":"1","row":{"a":1,"b":"x","c\#($0)":null,"d":[]}}"#
        }
        func row(_ columns: Range<Int>) -> String { columns.map { #""c\#($0)":\#($0)"# }.joined(separator: ",") }
        lines.append(#"{"tx":61,"op":"insert","table":"wide","id":"1","row":{\#(row(0..<300))}}"#)
        lines.append(#"{"tx":62,"op":"insert","table":"wide","id":"2","row":{\#(row(200..<500))}}"#)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: input))
        #expect(try ToolProcess.run(["import", "-q", input], store: folder.path()).status == 0)
        #expect(try ToolProcess.run(["verify"], store: folder.path()).status == 0)
        let exported = try ToolProcess.run(["export"], store: folder.path()).output
        #expect(exported.split(separator: "\n").count == 62)
        let wide = try ToolProcess.run(
            ["sql", "SELECT count(*) FROM wide WHERE c250 = 250 AND (c499 IS NULL) = (id = '1')", "--format", "csv"],
            store: folder.path())
        #expect(wide.output.contains("2"), "\(wide)")
    }

    /// Time once grew with the cube of the columns, and of the tables: a row like this one took minutes.
    @Test("Time doesn't grow with the cube of columns and tables", .timeLimit(.minutes(10)))
    func noCubicTime() throws {
        let folder = try TemporaryFolder()
        let input = folder.path("input.jsonl")
        let row = (0..<1_890).map { #""c\#($0)":\#($0)"# }.joined(separator: ",")
        let lines =
            (0..<100).map { #"{"tx":1,"op":"insert","table":"t\#($0)","id":"1","row":{"a":1}}"# } + [
                #"{"tx":2,"op":"insert","table":"wide","id":"1","row":{\#(row)}}"#
            ]
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: input))
        // In processor time, of which a busy machine takes nothing away.
        #expect(try ToolProcess.shell("ulimit -t 60; \"$0\" import -q '\(input)'", store: folder.path()).status == 0)
        let sum = try ToolProcess.run(["sql", "SELECT c1889 FROM wide", "--format", "csv"], store: folder.path())
        #expect(sum.output.contains("1889"), "\(sum)")
    }

    @Test("More columns than a table can have are a bad line")
    func tooManyColumns() throws {
        let folder = try TemporaryFolder()
        let input = folder.path("input.jsonl")
        let row = (0..<5_000).map { #""c\#($0)":1"# }.joined(separator: ",")
        try Data(#"{"tx":1,"op":"insert","table":"t","id":"1","row":{\#(row)}}"#.utf8).write(
            to: URL(fileURLWithPath: input))
        let outcome = try ToolProcess.run(["import", input], store: folder.path())
        #expect(outcome.status == 7, "\(outcome.errors)")
        #expect(outcome.errors.contains("more than 1900 columns"), "\(outcome.errors)")
    }
}

extension TemporaryFolder {
    /// - Returns: The path of the file.
    fileprivate func write(_ lines: [String], _ name: String = "in.jsonl") throws -> String {
        try (lines.joined(separator: "\n") + "\n").write(toFile: path(name), atomically: true, encoding: .utf8)
        return path(name)
    }
}
