import ArgumentParser
import Testing

@testable import StorageKitTool

@Suite struct OptionsTests {
    private struct Everything: ParsableArguments {
        @OptionGroup var store: StoreOption
        @OptionGroup var filter: FilterOptions
        @OptionGroup var format: FormatOptions
    }

    @Test("Filters are read")
    func filters() throws {
        let options = try Everything.parse([
            "-s", "a.sqlite", "--since", "-2h", "--until", "@9~", "--actor", "anna", "--actor", "ben", "--app", "web",
            "--reason", "why",
            "--table", "t", "--op", "i,u", "--op", "delete", "--column", "c", "--format", "jsonl", "--color", "never",
        ])
        #expect(try options.store.path(environment: ["STORAGEKIT_STORE": "b.sqlite"]) == "a.sqlite")
        guard case .time = options.filter.since else {
            Issue.record("-2h must be a time")
            return
        }
        #expect(options.filter.until == .before(position: 9))
        #expect(options.filter.actor == ["anna", "ben"])
        #expect(options.filter.kinds == [.insert, .update, .delete])
        #expect(!options.filter.isEmpty)
        #expect(options.format.format == .jsonl)
        #expect(!options.format.style.isColored)
    }

    /// As in `-s "$UNSET"`.
    @Test("An empty name isn't the store of the environment")
    func emptyStore() throws {
        let options = try Everything.parse(["-s", ""])
        let error = #expect(throws: CommandError.self) {
            try options.store.path(environment: ["STORAGEKIT_STORE": "b.sqlite"])
        }
        #expect(error?.status == .usage)
    }

    @Test("Nothing is set by default")
    func defaults() throws {
        let options = try Everything.parse([])
        #expect(options.filter.isEmpty)
        #expect(options.filter.kinds == nil)
        #expect(options.format.format == .human)
        #expect(options.format.color == .auto)
        #expect(try options.store.path(environment: ["STORAGEKIT_STORE": "b.sqlite"]) == "b.sqlite")
        let error = try #require(throws: CommandError.self) {
            try options.store.path(environment: ["STORAGEKIT_STORE": ""])
        }
        #expect(error.status == .usage)
    }

    @Test("Wrong values say what is right")
    func wrongValues() throws {
        for (arguments, hint) in [
            (["--since", "soon"], "Points look like"), (["--op", "i,x"], "insert"), (["--format", "xml"], "jsonl"),
            (["--color", "red"], "always"),
        ] {
            let error = try #require(throws: (any Error).self) { try Everything.parse(arguments) }
            #expect(Everything.fullMessage(for: error).contains(hint), "\(arguments)")
        }
        let options = try Everything.parse(["--format", "csv"])
        let error = try #require(throws: CommandError.self) { try options.format.require([.human, .jsonl], of: "log") }
        #expect(error.why.contains("human, jsonl"))
    }
}
