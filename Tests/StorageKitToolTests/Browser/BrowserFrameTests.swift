import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

/// Every screen at three sizes, compared with recorded frames.
///
/// After a wanted change record them again with `RECORD_GOLDEN=1 swift test --filter BrowserFrameTests`.
@Suite(.enabled(if: BrowserRun.isUTC, "the frames have times in UTC: set STORAGEKIT_TIME=utc"))
struct BrowserFrameTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let keys: [Key]
        var filter = ""
        var testDescription: String { name }

        init(_ name: String, _ keys: [Key] = [], filter: String = "") {
            self.name = name
            self.keys = keys
            self.filter = filter
        }

        init(_ name: String, typing text: String, filter: String = "") {
            let keys = text.map { $0 == "\n" ? Key.enter : .character($0) }
            self.init(name, keys, filter: filter)
        }
    }

    static let cases: [Case] = [
        Case("log"), Case("log-filtered", filter: "posts --actor anna"),
        Case("log-no-match", typing: "&--actor nobody\n"),
        Case("log-text", typing: "&--text Hello\n"), Case("log-bad-filter", typing: "&--actr anna\n"),
        Case("log-search", typing: "/anna\nn"), Case("log-point", typing: ":t:3\n"), Case("log-last", typing: "G"),
        Case("log-missing-point", typing: ":t:99\n"), Case("log-command", typing: "&posts --op d\nc"),
        Case("commit", typing: ":t:3\n\n"), Case("commit-change", [.character("j"), .enter, .tab, .tab]),
        Case("history", typing: ":posts/a/1\n"), Case("history-cell", typing: ":posts/a/1#title\n"),
        Case("history-missing", typing: ":posts/x\n"), Case("history-command", typing: ":posts/a/1\nc"),
        Case("diff", typing: "jjjmkkd"), Case("diff-range", typing: ":t:2..t:5 posts\n"),
        Case("tables", typing: "jT"), Case("rows", typing: ":posts\n"), Case("rows-then", typing: ":posts\n:t:2\n"),
        Case("rows-keys", typing: ":seats\n"), Case("plan-revert", typing: ":t:4\nU"),
        Case("plan-conflict", typing: ":t:2\nU\n"), Case("plan-conflict-skipped", typing: ":t:2\nUs"),
        Case("plan-reason", typing: "u\nwrong ticket"), Case("plan-confirmation", typing: "u\nwrong\n"),
        Case("help", typing: "?"), Case("prompt", typing: ":t:日本"),
    ]
    static let sizes = [
        FrameSize(rows: 24, columns: 80), FrameSize(rows: 40, columns: 120), FrameSize(rows: 50, columns: 200),
    ]

    @Test("Screens", arguments: cases)
    func screens(_ screen: Case) async throws {
        // A plan is made by the one that may write.
        let sample = try await screen.name.hasPrefix("plan") ? SampleStore() : SampleStore.shared.value
        var text = ""
        for size in Self.sizes {
            var run = try await BrowserRun(sample.path, rows: size.rows, columns: size.columns, filter: screen.filter)
            for key in screen.keys { await run.press(key) }
            #expect(run.frame.rows.count == size.rows)
            for line in run.frame.text { #expect(DisplayWidth.of(line) <= size.columns) }
            text += "\(size.columns) x \(size.rows)\n" + run.text
            try await run.close()
        }
        try Self.compare("ui-\(screen.name)", Self.stable(text))
    }

    @Test("The guide shows the log as it is")
    func guide() async throws {
        let run = try await BrowserRun(SampleStore.shared.value.path, rows: 12, columns: 80)
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/StorageKit/Documentation.docc/Guides/BrowsingInTheTerminal.md")
        let guide = String(decoding: try Data(contentsOf: page), as: UTF8.self)
        #expect(guide.contains("```\n\(run.text)```"), "\(run.text)")
        try await run.close()
    }

    @Test("A terminal that is too small says so")
    func tooSmall() async throws {
        var run = try await BrowserRun(SampleStore.shared.value.path, rows: 7, columns: 39)
        #expect(run.text.hasPrefix("At least 40 columns and 8 rows are\nneeded."))
        await run.send(.resized(FrameSize(rows: 8, columns: 40)))
        #expect(run.text.contains("t:6"))
        try await run.close()
    }

    /// Sizes differ with the version of a library.
    private static func stable(_ text: String) -> String {
        text.replacingOccurrences(of: #"(?m)[\d,]+ bytes, .*$"#, with: "N bytes", options: .regularExpression)
    }

    private static func compare(_ name: String, _ text: String) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Golden/\(name).txt")
        if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: file)
        } else {
            #expect(text == String(decoding: try Data(contentsOf: file), as: UTF8.self), "\(name): \(text)")
        }
    }
}
