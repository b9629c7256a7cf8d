import ArgumentParser
import Foundation
import StorageCore
import TestSupport
import Testing

@testable import StorageKitTool

@Suite struct GrammarTests {
    /// 2024-05-01T10:00:00Z, a Wednesday.
    private static let now: Int64 = 1_714_557_600_000_000
    private static let hour: Int64 = 3_600_000_000

    @Test(
        "Points are read",
        arguments: [
            ("@1234", PointArgument.position(1234)), ("@0", .position(0)), ("@1234~", .before(position: 1234)),
            ("t:77", .commit(77)),
            ("head", .head), ("head~5", .beforeHead(commits: 5)), ("tag:release-3", .tag("release-3")),
            ("tag:é/3.1", .tag("é/3.1")), ("tag:release-3~2", .beforeTag("release-3", commits: 2)),
            ("2024-05-01T10:00:00Z", .time(now)), ("2024-05-01T12:00:00.5+02:00", .time(now + 500_000)),
            ("2024-05-01", .time(now - 10 * hour)), ("2024-05-01 10:00", .time(now)),
            ("2024-05-01T10:00:00", .time(now)),
            ("2024-05-01 10:00:00.25", .time(now + 250_000)), ("today", .time(now - 10 * hour)),
            ("today 14:00", .time(now + 4 * hour)),
            ("yesterday", .time(now - 34 * hour)),
            ("yesterday 09:30:15", .time(now - 24 * hour - hour / 2 + 15_000_000)),
            ("-2h", .time(now - 2 * hour)), ("-90s", .time(now - 90_000_000)), ("-5m", .time(now - hour / 12)),
            ("-1d12h", .time(now - 36 * hour)), ("-2w", .time(now - 336 * hour)),
            ("-9000000w", .time(Timestamp.range.lowerBound)),
        ] as [(String, PointArgument)])
    func points(text: String, point: PointArgument) throws {
        #expect(try PointArgument(text, now: Self.now) == point)
        #expect(try PointArgument(point.description, now: 0) == point)
    }

    @Test(
        "Other words are refused with examples",
        arguments: [
            "", "@", "@~", "@-1", "@+1", "@1~~", "@x", "@99999999999999999999", "t:", "t:x", "head~", "head~x", "Head",
            "tag:", "tag:a..b", "tag:a b", "tag:a:b", "tag:a~", "tag:a~x", "tag:a~1~2", "tag:~1", "tag:a.", "tag:-a",
            "-",
            "-2",
            "-2x", "-h", "-2h3", "--2h", "-99999999999999w", "2024", "2024-5-1", "2024-05-01T", "2024-05-01 25:00",
            "2024-02-30", "tomorrow", "today14",
            "today ", "today 14", "now-", "now2h", "１２", "2024-05-01T10:00:60Z", "＠1",
        ])
    func malformedPoints(text: String) throws {
        let error = try #require(throws: GrammarError.self) { try PointArgument(text, now: Self.now) }
        #expect(error.problem.contains("'\(text)'"))
        #expect(error.examples.contains("look like") || error.examples.contains("Write"))
    }

    @Test("Relative points aren't taken for options")
    func relativePoints() throws {
        let words = ["diff", "-2h", "-1d..head", "-2", "-1.5h", "-x", "--actor", "-2h", "--", "-2h"]
        #expect(
            try HyphenArguments.protected(words) == [
                "diff", "now-2h", "now-1d..head", "now-2", "now-1.5h", "-x", "--actor=-2h", "--", "-2h",
            ])
        #expect(try HyphenArguments.protected(["at", "t:1", "SELECT 1", "--each", "-2h,head"]).last == "now-2h,head")
        // A flag of one command is an option of another.
        #expect(try HyphenArguments.protected(["log", "--schema", "-1"]) == ["log", "--schema", "-n", "1"])
        #expect(try HyphenArguments.protected(["log", "--schema", "-2h"]) == ["log", "--schema", "now-2h"])
    }

    @Test(
        "Names and texts aren't made into points; they need a -- before them",
        arguments: [
            ["grep", "-2h"], ["note", "-1h", "-2h"], ["grep", "-s", "x", "-2h", "-1d..head"], ["tag", "-2h"],
            ["backup", "-2h"], ["history", "-2h/1"], ["at", "-1h", "-2h"],
        ])
    func textLikePoint(words: [String]) throws {
        let error = try #require(throws: CommandError.self) { try HyphenArguments.protected(words) }
        #expect(error.status == .usage)
        #expect(error.next.hasPrefix("Put -- before it: -- -2h"))
    }

    @Test("SQL may begin with a comment where it is expected, and nowhere else")
    func comments() throws {
        let sql = "-- a/b = c\nSELECT 1"
        for words in [["sql"], ["exec", "--yes"], ["explain", "-s", "x"], ["at", "-2h"], ["bisect", "t:1..t:2"]] {
            #expect(try HyphenArguments.protected(words + [sql, "--csv"]).suffix(2) == [" " + sql, "--csv"])
            #expect(try HyphenArguments.protected(words + ["--", sql]).last == sql)
        }
        #expect(try HyphenArguments.protected(["sql", "--fields=a b", "--store", sql]).last == "--store=\(sql)")
        #expect(try HyphenArguments.protected(["log", "-- a"]).last == "-- a")
    }

    @Test(
        "The value of an option may begin with a hyphen",
        arguments: [
            (["log", "--actor", "-x"], ["log", "--actor=-x"]), (["log", "--actor=-x"], ["log", "--actor=-x"]),
            (["exec", "-m", "-1"], ["exec", "-m=-1"]), (["log", "-s", "-2h.sqlite"], ["log", "-s=-2h.sqlite"]),
            (["watch", "t", "--where", "-x > 5"], ["watch", "t", "--where=-x > 5"]),
            (["log", "--actor", "--oneline"], ["log", "--actor", "--oneline"]),
            (["log", "--actor", "-"], ["log", "--actor", "-"]),
            (["log", "--table", "--", "-t"], ["log", "--table", "--", "-t"]),
            (["log", "--", "--actor", "-x"], ["log", "--", "--actor", "-x"]),
        ])
    func hyphenatedValues(words: [String], expected: [String]) throws {
        #expect(try HyphenArguments.protected(words) == expected)
    }

    /// Behind `--`, where they are arguments, and as the values of options.
    @Test("Names that begin with a hyphen are found")
    func hyphenatedNames() throws {
        let folder = try TemporaryFolder()
        let line = #"{"tx":1,"actor":"-x","op":"insert","table":"-t","id":"-1","row":{"-c":1}}"#
        try Data(line.utf8).write(to: URL(fileURLWithPath: folder.path("-h.jsonl")))
        func run(_ words: String...) throws -> ToolProcess.Outcome {
            try ToolProcess.run(words, store: nil, in: folder.url)
        }
        #expect(try run("import", "-s", "-s.sqlite", "--", "-h.jsonl").status == 0)
        for words in [
            ["log", "--actor", "-x"], ["log", "--actor=-x"], ["log", "--table", "-t"], ["log", "--", "-t"],
            ["history", "--", "-t/-1"], ["blame", "--", "-t"], ["at", "t:1", "--", "-t"],
            ["grep", "--column", "-c", "1"],
        ] {
            let outcome = try ToolProcess.run(["-s", "-s.sqlite"] + words, store: nil, in: folder.url)
            #expect(outcome.status == 0, "\(words): \(outcome.errors)")
            #expect(outcome.output.contains("-t") || words[0] == "at", "\(words): \(outcome.output)")
        }
        #expect(try run("backup", "-s", "-s.sqlite", "--", "-b.sqlite").status == 0)
        #expect(try run("verify", "--store=-b.sqlite").status == 0)
    }

    @Test(
        "The name in a suggested command is never parsed as an option",
        arguments: ["x", "a b", "-x", "-h", "-2h", "--", "--compare", "-- x"])
    func suggestedCommands(name: String) throws {
        let error = CommandError(.notFound, "No.", next: "Type: storagekit rebuild \([name, "-y"].quotedAsOperands)")
        let line = try #require(error.naming(store: "a -- b").next.split(separator: "storagekit ").last)
        let words = try CommandWords.ordered(ShellWords.split(String(line)), for: StorageKitTool.self)
        let command = try StorageKitTool.parseAsRoot(HyphenArguments.protected(words))
        let rebuild = try #require(command as? RebuildCommand)
        #expect(rebuild.tables == [name, "-y"])
        #expect(rebuild.store.store == "a -- b")
    }

    @Test("The command of a screen names a row that begins with a hyphen")
    func commandOfScreen() throws {
        #expect(Location.history(try TargetArgument("x/-1")).command(store: "s") == "storagekit history x/-1 -s s")
        #expect(Location.history(try TargetArgument("-x/1")).command(store: "s") == "storagekit history -s s -- -x/1")
        #expect(Location.rows(table: "-x", at: .head).command(store: nil) == "storagekit at head -- -x")
    }

    @Test("The first sign of a changed column decides")
    func changedColumns() throws {
        for (text, column, old, new) in [
            ("url=http://a->b", "url", nil, "http://a->b"), ("url:http://a->b=c", "url", "http://a", "b=c"),
            ("a:b=c", "a:b", nil, "c"), ("status", "status", nil, nil),
        ] as [(String, String, String?, String?)] {
            let changed = try ChangedColumn(text)
            #expect(changed.column == column)
            #expect(changed.old == old)
            #expect(changed.new == new)
        }
    }

    @Test("Every option with a value is known, so that no value is made into a point")
    func optionsWithValues() throws {
        var known = HyphenArguments.optionsWithText.union(HyphenArguments.optionsWithPoints)
        func forget(_ command: CommandDescription) {
            for argument in command.arguments ?? [] where argument.kind == .option {
                for name in argument.names ?? [] {
                    #expect(
                        HyphenArguments.optionsWithText.contains(name.text)
                            || HyphenArguments.optionsWithPoints.contains(name.text), "\(name.text)")
                    known.remove(name.text)
                }
            }
            for argument in command.arguments ?? [] where argument.kind == .flag {
                for name in argument.names ?? [] where HyphenArguments.optionsWithText.contains(name.text) {
                    #expect(HyphenArguments.flags[command.commandName]?.contains(name.text) ?? false, "\(name.text)")
                }
            }
            for subcommand in command.subcommands ?? [] { forget(subcommand) }
        }
        forget(try CommandDescription.read(StorageKitTool._dumpHelp()))
        #expect(known.isEmpty, "no option has these names")
    }

    @Test("A relative point means the same after its options are parsed")
    func completedPoints() throws {
        #expect(try PointArgument("now-2h", now: Self.now) == PointArgument("-2h", now: Self.now))
        #expect(try PointArgument("now", now: Self.now) == .time(Self.now))
        #expect(try PointRange("now-2h..-1h", now: Self.now) == PointRange("-2h..-1h", now: Self.now))
    }

    @Test("Ranges are read")
    func ranges() throws {
        let range = try PointRange("@100~..-2h", now: Self.now)
        #expect(range == PointRange(after: .before(position: 100), through: .time(Self.now - 2 * Self.hour)))
        #expect(try PointRange("t:5..", now: 0) == PointRange(after: .commit(5), through: nil))
        #expect(try PointRange("..tag:v1.0", now: 0) == PointRange(after: nil, through: .tag("v1.0")))
        #expect(try PointRange("..", now: 0) == PointRange(after: nil, through: nil))
        #expect(try PointRange("2024-05-01..2024-05-01T10:00:00.5Z", now: 0).after == .time(Self.now - 10 * Self.hour))
        for text in ["", "@1", "@1.@2", "@1...@2", "@1..x", "@1..@2..@3"] {
            #expect(throws: GrammarError.self) { try PointRange(text, now: 0) }
        }
    }

    @Test(
        "Targets are read",
        arguments: [
            ("users", TargetArgument(table: "users")), ("users/42", TargetArgument(table: "users", id: "42")),
            ("users/42#name", TargetArgument(table: "users", id: "42", column: "name")),
            ("pages/common/a.md", TargetArgument(table: "pages", id: "common/a.md")),
            ("pages/a#b#text", TargetArgument(table: "pages", id: "a#b", column: "text")),
            ("pages/a%23b", TargetArgument(table: "pages", id: "a#b")),
            ("a%2fb/c", TargetArgument(table: "a/b", id: "c")),
            ("t%23/100%", TargetArgument(table: "t#", id: "100%")), ("t/%2523", TargetArgument(table: "t", id: "%23")),
            ("t/%41", TargetArgument(table: "t", id: "%41")),
            ("t/1#a/b", TargetArgument(table: "t", id: "1", column: "a/b")),
            ("größe/ü#é", TargetArgument(table: "größe", id: "ü", column: "é")),
            ("t/%", TargetArgument(table: "t", id: "%")),
            // A text in a key may be empty.
            ("users/", TargetArgument(table: "users", id: "")),
            ("users/#name", TargetArgument(table: "users", id: "", column: "name")),
            ("t/\u{301}x", TargetArgument(table: "t", id: "\u{301}x")),
        ] as [(String, TargetArgument)])
    func targets(text: String, target: TargetArgument) throws {
        #expect(try TargetArgument(text) == target)
    }

    @Test(
        "Targets with empty parts are refused",
        arguments: ["", "/", "/42", "users/42#", "users#name"])
    func targetsWithEmptyParts(text: String) throws {
        let error = try #require(throws: GrammarError.self) { try TargetArgument(text) }
        #expect(error.examples == TargetArgument.examples)
    }

    @Test("Every target can be typed", arguments: testSeeds(1))
    func everyTargetCanBeTyped(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        func name() -> String {
            (0..<Int.random(in: 1...6, using: &generator)).map { _ in
                ["/", "#", "%", "2", "3", "5", "F", "f", "é", "a"].randomElement(using: &generator) ?? ""
            }.joined()
        }
        for _ in 0..<5000 {
            let id = Bool.random(using: &generator) ? name() : nil
            let column = id != nil && Bool.random(using: &generator) ? name() : nil
            let target = TargetArgument(table: name(), id: id, column: column)
            #expect(try TargetArgument(target.description) == target, "seed \(seed)")
        }
    }
}
