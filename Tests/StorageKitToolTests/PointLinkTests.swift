import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

/// Points that a terminal opens where they are clicked.
@Suite struct PointLinkTests {
    private func links(_ template: String, store: String? = "/tmp/my store.sqlite") throws -> PointLinks {
        try PointLinks(template, store: store, host: "box")
    }

    @Test("A template becomes a URL, and a point that lacks a field is no link")
    func templates() throws {
        #expect(try links("https://a.example/c/{commit}").url(of: .commit(12)) == "https://a.example/c/12")
        #expect(try links("https://a.example/c/{commit}").url(of: .position(12)) == nil)
        #expect(try links("x:{position}").url(of: .position(5)) == "x:5")
        #expect(try links("x:?at={point}").url(of: .tag("v 1&é")) == "x:?at=tag:v%201%26%C3%A9")
        #expect(try links("ui").url(of: .commit(12)) == "storagekit://box/tmp/my%20store.sqlite?point=t:12")
        #expect(try links("ui", store: nil).url(of: .commit(12)) == nil)
    }

    @Test(
        "What is no template is refused",
        arguments: ["{point}", "no scheme", "https://x/{nothing}", "https://x/{point", "x:\u{1b}]0;a", "x: {point}"])
    func badTemplates(_ template: String) {
        #expect(throws: GrammarError.self) { try PointLinks(template, store: nil, host: "box") }
    }

    @Test("A link of STORAGEKIT_LINK=ui is read as it was written")
    func storeLinks() throws {
        for point in [PointArgument.commit(12), .position(7), .tag("v1-é")] {
            let url = try #require(try links("ui").url(of: point))
            let link = try StoreLink(url, host: "BOX")
            #expect(link.path == "/tmp/my store.sqlite")
            #expect(link.point == point)
        }
        #expect(try StoreLink("storagekit:///a.sqlite?point=t:1", host: "box").path == "/a.sqlite")
        let foreign = #expect(throws: GrammarError.self) {
            try StoreLink("storagekit://other/my%20store.sqlite?point=t:1", host: "box")
        }
        #expect(foreign?.examples == "On that machine, type: storagekit show t:1 -s '/my store.sqlite'")
        #expect(throws: GrammarError.self) { try StoreLink("https://box/a.sqlite?point=t:1", host: "box") }
        #expect(throws: GrammarError.self) { try StoreLink("storagekit://box/a.sqlite", host: "box") }
    }

    @Test("Links are on a terminal with colours only")
    func whereLinksAre() throws {
        let links = try links("ui")
        func style(_ choice: ColorChoice, isTerminal: Bool = true, _ environment: [String: String] = [:]) -> Style {
            Terminal(isTerminal: isTerminal, measuredWidth: nil, environment: environment).style(choice, links: links)
        }
        #expect(style(.auto).links == links)
        #expect(style(.never).links == nil)
        #expect(style(.auto, ["NO_COLOR": "1"]).links == nil)
        #expect(style(.always, ["TERM": "dumb"]).links == nil)
        #expect(style(.always, isTerminal: false).links == nil)
    }

    @Test("A link takes no room, and stays around what is left of a text")
    func widths() throws {
        var style = Style.colored
        style.links = try links("x:{point}")
        var line = StyledLine(.commit(12), .heading)
        line.addWord("after it")
        let start = "\u{1b}[1m\u{1b}]8;;x:t:12\u{1b}\\"
        let end = "\u{1b}]8;;\u{1b}\\\u{1b}[0m"
        #expect(line.rendered(style, width: nil) == "\(start)t:12\(end)  after it")
        #expect(line.rendered(style, width: 3) == "\(start)t:…\(end)")
    }

    private static let commands: [[String]] = [
        ["log"], ["log", "--oneline"], ["show", "t:3"], ["show", "@9"], ["history", "posts/a/1"], ["diff", "t:2"],
        ["blame", "posts/a/1"], ["blame", "posts"], ["grep", "e"], ["at", "t:3", "SELECT id FROM posts"], ["tail"],
    ]

    @Test("Commands link points on a terminal, and nowhere else", arguments: commands)
    func linksOnTerminals(_ arguments: [String]) async throws {
        let store = try await SampleStore.shared.value.path
        let variables = [PointLinks.environmentKey: "https://a.example/?at={point}"]
        let linked = try ToolProcess.onTerminal(arguments, store: store, variables: variables)
        let plain = try ToolProcess.onTerminal(arguments, store: store)
        #expect(linked.output.contains("\u{1b}]8;;https://a.example/?at="))
        #expect(linked.status == plain.status)
        let stripped = linked.output.replacingOccurrences(
            of: "\u{1b}\\]8;;[^\u{1b}]*\u{1b}\\\\", with: "", options: .regularExpression)
        #expect(stripped == plain.output)
        let colorless = try ToolProcess.onTerminal(
            arguments + ["--color", "never"], store: store, variables: variables)
        #expect(!colorless.output.contains("\u{1b}"))
    }

    @Test("A template that is wrong is an error where it would be used")
    func wrongTemplate() async throws {
        let store = try await SampleStore.shared.value.path
        let outcome = try ToolProcess.onTerminal(
            ["log"], store: store, variables: [PointLinks.environmentKey: "https://x/{nothing}"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("A link has no field 'nothing'."))
    }

    @Test(
        "The pager shows links as their text",
        .enabled(
            if: TerminalSession.isAvailable && TerminalSession.isInstalled("less"), "tmux or less isn't installed"))
    func pager() async throws {
        let sample = try await SampleStore()
        let session = try TerminalSession(
            "storagekit log --oneline; exec sleep 1000", rows: 4,
            environment: ["STORAGEKIT_STORE": sample.path, PointLinks.environmentKey: "ui"], in: sample.folder)
        // The first line is whole and the first of the screen: the link was neither printed nor counted.
        try await session.wait { $0.hasPrefix("t:6  @") && $0.hasSuffix("\n:") }
    }

    @Test("ui shows the commit of a link", .enabled(if: TerminalSession.isAvailable, "tmux isn't installed"))
    func opened() async throws {
        let sample = try await SampleStore()
        let session = try TerminalSession(
            "storagekit ui --link 'storagekit://localhost\(sample.path)?point=t:3'", in: sample.folder)
        try await session.wait { $0.contains("commit t:3") && $0.contains("customer called") }
        try session.press("q")
        try await session.wait { $0.contains("t:6") && !$0.contains("commit t:3") }
    }

    /// The entry of the guide, in a home of its own, as a desktop that is none of the known ones has it.
    @Test(
        "A desktop opens a clicked point with the entry that the guide shows",
        .enabled(
            if: TerminalSession.isAvailable && TerminalSession.isInstalled("xdg-open"),
            "tmux or xdg-open (Debian's xdg-utils) isn't installed"))
    func desktopEntry() async throws {
        let sample = try await SampleStore()
        let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/StorageKit/Documentation.docc/Guides/BrowsingInTheTerminal.md")
        let blocks = try String(contentsOf: guide, encoding: .utf8).components(separatedBy: "```")
        let entry = try #require(blocks.first { $0.contains("[Desktop Entry]") })
        let applications = sample.folder.url.appendingPathComponent(".local/share/applications")
        try FileManager.default.createDirectory(at: applications, withIntermediateDirectories: true)
        try entry.write(
            to: applications.appendingPathComponent("storagekit.desktop"), atomically: true, encoding: .utf8)
        let url = try #require(
            PointLinks("ui", store: sample.path, host: StoreLink.host).url(of: .commit(3)))
        let session = try TerminalSession(
            "xdg-mime default storagekit.desktop x-scheme-handler/storagekit && xdg-open '\(url)'",
            environment: ["XDG_CURRENT_DESKTOP": "X-Generic", "DISPLAY": ":none"], in: sample.folder)
        try await session.wait { $0.contains("commit t:3") && $0.contains("customer called") }
        try session.press("q")
        try await session.wait { $0.contains("t:6") && !$0.contains("commit t:3") }
    }
}
