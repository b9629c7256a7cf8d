import TestSupport
import Testing

@testable import StorageKitTool

@Suite struct OperationParserTests {
    /// Parses a line and looks at the operation while its slices are valid.
    private func parse<T>(_ line: String, _ body: (HistoryOperation) throws -> T) throws -> T {
        var parser = OperationParser()
        var operation = HistoryOperation()
        return try Array(line.utf8).withUnsafeBytes { line in
            try parser.parse(line, into: &operation)
            return try body(operation)
        }
    }

    private func refusal(_ line: String) -> InputError? {
        do {
            try parse(line) { _ in }
            return nil
        } catch {
            return error as? InputError
        }
    }

    @Test("All keys are read in any order")
    func keysInAnyOrder() throws {
        let keys = [
            #""tx":12"#, #""at":"2024-05-01T10:00:00.123456Z""#, #""actor":"an\u006ea""#, #""op":"update""#,
            #""table":"posts""#,
            #""id":"42""#, #""row":{"n":1,"r":1.0,"s":"x","b":true,"z":null,"j":[1, 2]}"#, #""app":"web""#,
            #""reason":null"#,
            #""correlation":"c-1""#,
        ]
        var generator = SplitMix64(seed: 7)
        for _ in 0..<50 {
            try parse("{" + keys.shuffled(using: &generator).joined(separator: ",") + "}") { operation in
                #expect(operation.tx == 12)
                #expect(operation.at == 1_714_557_600_123_456)
                #expect(operation.actor?.string == "anna")
                #expect(operation.app?.string == "web")
                #expect(operation.reason == nil)
                #expect(operation.correlation?.string == "c-1")
                #expect(operation.kind == .update)
                #expect(operation.table.string == "posts")
                #expect(operation.id.string == "42")
                #expect(operation.columns.map(\.name.string) == ["n", "r", "s", "b", "z", "j"])
                #expect(
                    operation.columns.map { OwnedValue($0.value) } == [
                        .integer(1), .real(1.0.bitPattern), .text("x"), .bool(true), .null, .json("[1,2]"),
                    ])
            }
        }
    }

    @Test("Nothing is left over from the line before")
    func nothingIsLeftOver() throws {
        var parser = OperationParser()
        var operation = HistoryOperation()
        let full =
            #"{"tx":1,"at":"2024-05-01T10:00:00Z","actor":"a","app":"b","reason":"c","correlation":"d","op":"insert","table":"t","id":"1","row":{"a":1}}"#
        try Array(full.utf8).withUnsafeBytes { try parser.parse($0, into: &operation) }
        try Array(#"{"tx":-2,"op":"delete","table":"t","id":"1"}"#.utf8).withUnsafeBytes {
            try parser.parse($0, into: &operation)
        }
        #expect(operation.tx == -2)
        #expect(operation.at == nil)
        #expect(operation.actor == nil)
        #expect(operation.app == nil)
        #expect(operation.reason == nil)
        #expect(operation.correlation == nil)
        #expect(operation.columns.isEmpty)
    }

    @Test(
        "Bad lines are refused with a reason",
        arguments: [
            (#"{"tx":1,"op":"delete","table":"t","id":"1","row":{}}"#, "a delete has no row"),
            (#"{"tx":1,"op":"insert","table":"t","id":"1","row":null}"#, "an insert needs a row"),
            (#"{"tx":1,"op":"update","table":"t","id":"1"}"#, "an update needs a row"),
            (#"{"tx":1,"op":"insert","table":"t","id":"1","row":[]}"#, "an object is expected here"),
            (#"{"tx":1,"op":"insert","table":"t","id":"1","row":{"":1}}"#, "a column needs a name"),
            (#"{"tx":1,"op":"insert","table":"t","id":1,"row":{}}"#, "id must be text"),
            (#"{"tx":1,"op":"insert","table":"","id":"1","row":{}}"#, "table must be text and not empty"),
            (#"{"tx":1.0,"op":"delete","table":"t","id":"1"}"#, "tx must be an integer"),
            (#"{"tx":"1","op":"delete","table":"t","id":"1"}"#, "tx must be an integer"),
            (#"{"tx":1,"op":"upsert","table":"t","id":"1"}"#, "this operation doesn't exist"),
            (#"{"tx":1,"op":"delete","table":"t","id":"1","actor":7}"#, "actor must be text or null"),
            (#"{"tx":1,"op":"delete","table":"t","id":"1","at":7}"#, "at must be a time in quotes"),
            (
                #"{"tx":1,"op":"delete","table":"t","id":"1","at":"2024-02-30T00:00:00Z"}"#,
                "this day or time of day doesn't exist"
            ),
            (#"{"tx":1,"op":"delete","table":"t","id":"1","when":7}"#, "the key \"when\" isn't part of the format"),
            (#"{"op":"delete","table":"t","id":"1"}"#, "the key \"tx\" is missing"),
            (#"{"tx":1,"table":"t","id":"1"}"#, "the key \"op\" is missing"),
            (#"{"tx":1,"op":"delete","id":"1"}"#, "the key \"table\" is missing"),
            (#"{"tx":1,"op":"delete","table":"t"}"#, "the key \"id\" is missing"),
            (#"{"tx":1,"op":"delete","table":"t","id":"1","id":"1"}"#, "the key \"id\" is repeated"),
            (#"{"tx":1,"op":"insert","table":"t","id":"1","row":{"a":1,"a":1}}"#, "the key \"a\" is repeated"),
            (#"{"tx":1,"op":"delete","table":"t","id":"1"} {}"#, "there is more after the end of the value"),
            ("[]", "an object is expected here"), ("", "an object is expected here"),
        ])
    func badLines(line: String, problem: String) throws {
        let error = try #require(refusal(line))
        #expect(error.problem == problem)
        #expect((0...line.utf8.count).contains(error.offset))
        #expect(error.remedy.hasSuffix("."))
    }

    @Test("The parser continues after a bad line")
    func parsingAfterBadLine() throws {
        var parser = OperationParser()
        var operation = HistoryOperation()
        for line in [#"{"tx":1,"row":{"a":[{"#, #"{"tx":1,"op":"insert","table":"t","id":"1","row":{"a":[{}]}}"#] {
            try? Array(line.utf8).withUnsafeBytes { try parser.parse($0, into: &operation) }
        }
        #expect(operation.columns.count == 1)
    }

    @Test("Damaged lines never crash", arguments: testSeeds(1))
    func damagedLinesNeverCrash(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let whole = Array(
            #"{"tx":12,"at":"2024-05-01T10:00:00.5+02:00","actor":"é\n","op":"update","table":"posts","id":"42","row":{"a":[1, {"$blob":"AAAA"}],"b":-1.5e3,"c":{"$real":"Infinity"}}}"#
                .utf8)
        var parser = OperationParser()
        var operation = HistoryOperation()
        for _ in 0..<5000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                DocumentGenerator.damage(&bytes, using: &generator)
            }
            bytes.withUnsafeBytes { line in
                do throws(InputError) {
                    try parser.parse(line, into: &operation)
                } catch {
                    #expect((0...line.count).contains(error.offset), "seed \(seed)")
                }
            }
        }
    }
}
