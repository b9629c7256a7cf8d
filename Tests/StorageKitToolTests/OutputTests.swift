import Foundation
import StorageKit
import Testing

@testable import StorageKitTool

@Suite struct OutputTests {
    @Test(
        "Width is what a terminal shows",
        arguments: [
            ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("漢字", 4), ("한글", 4), ("ｗ", 2), ("😀", 2), ("👨‍👩‍👧", 2),
            ("🇩🇪", 2), ("❤️", 2), ("1️⃣", 2),
            ("→", 1), ("…", 1), ("█", 1), ("\u{200b}", 0),
        ] as [(String, Int)])
    func widthOfText(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    @Test("Truncation never exceeds the width")
    func truncation() {
        #expect(DisplayWidth.truncated("abcdef", to: 6) == "abcdef")
        #expect(DisplayWidth.truncated("abcdef", to: 4) == "abc…")
        #expect(DisplayWidth.truncated("漢字漢字", to: 4) == "漢…")
        #expect(DisplayWidth.truncated("abc", to: 1) == "…")
        #expect(DisplayWidth.truncated("abc", to: 0) == "")
    }

    @Test("Stored text can't control the terminal")
    func controlCharacters() {
        #expect(TerminalText.visible("plain é漢😀") == "plain é漢😀")
        #expect(
            TerminalText.visible("a\nb\tc\r\u{1b}[31m\u{7f}\u{9b}\u{202e}")
                == "a␊b␉c␍␛[31m␡<U+009B><U+202E>")
        // What has no width would be hidden, but joiners belong to words and emoji.
        #expect(TerminalText.visible("a\u{200b}b\u{2060}\u{fff9}\u{e0001}") == "a<U+200B>b<U+2060><U+FFF9><U+E0001>")
        #expect(TerminalText.visible("👨\u{200d}👩 می\u{200c}خواهم") == "👨\u{200d}👩 می\u{200c}خواهم")
    }

    @Test(
        "Usual texts with backslashes are shown as they are",
        arguments: [
            #"C:\new\table"#, #"^\d+\n\u{2028}$"#, #"\\server\share"#, #"{"a":"b\n"}"#, "<b>a</b> <U> <u+1>",
        ])
    func backslashes(_ text: String) {
        #expect(TerminalText.visible(text) == text)
    }

    @Test("Different texts look different")
    func differentTexts() {
        let texts = [
            "a\nb", #"a\nb"#, "a␊b", "a<U+000A>b", "a<U+240A>b", "a<<U+240A>b", "a<U+003C>U+240A>b", "a\u{202e}b",
            "a<U+202E>b", #"a\u{202e}b"#, "a\r\nb", #"a\r\nb"#, "ab", "ab\u{e0041}", "a1", "a1\u{fe0f}", "a\u{fe01}b",
            "a\u{e0101}b",
            "a\u{2800}b",
            "a\u{fe0f}b",
        ]
        let shown = texts.map(TerminalText.visible)
        #expect(Set(shown).count == texts.count, "\(shown)")
    }

    @Test("An emoji keeps its presentation")
    func presentation() {
        for text in ["\u{2764}\u{fe0f}", "\u{270a}\u{fe0e} x", "\u{1f468}\u{200d}\u{1f469}"] {
            #expect(TerminalText.visible(text) == text)
        }
    }

    @Test("A bar ends a cell of Markdown only between cells")
    func barsInMarkdown() {
        let row = MarkdownRow.text(["a|\u{301}b", "|", nil])
        #expect(row.unicodeScalars.map(String.init) == "| a\\|\u{301}b | \\| |  |".unicodeScalars.map(String.init))
    }

    @Test("A word that can't be shown is no candidate")
    func shownCandidates() {
        let words = WordCandidates(typed: "t", words: ["t1", "t\u{1b}]0;x\u{7}", "t\u{202e}2", "t\r"])
        #expect(words.words == ["t1"])
        #expect(words.listing(width: 80) == "t1\n")
    }

    @Test("A value may be typed as it is shown")
    func shownValue() {
        let field = StorageEvent.Field(column: "c", value: .text("a\nb"))
        #expect(ValueText.matches("a␊b", field))
        #expect(ValueText.matches("a\nb", field))
        #expect(!ValueText.matches(#"a\nb"#, field))
    }

    @Test("A control character becomes visible once")
    func shownOnce() {
        let line = StyledLine("a\nb")
        #expect(line.plain == "a␊b")
        #expect(line.with(.dim).plain == "a␊b")
        #expect(line.clipped(to: 2).plain == "a…")
        #expect(StyledLine("a\nbcd").clipped(to: 3).plain == "a␊…")
        #expect(line.limited.plain == "a␊b")
        var row = VerticalRow("1")
        row.add("a\nb", "c\nd")
        #expect(row.lines().last?.plain == "a␊b | c␊d")
        var table = TableLayout([.init("a\nb"), .init(title: TableCell("c\nd", .heading))], width: 20)
        table.add([TableCell("e\nf"), TableCell("g")])
        #expect(table.lines(style: .plain) == ["a␊b  c␊d", "e␊f  g"])
    }

    private func table(width: Int?) -> TableLayout {
        var table = TableLayout([.init("id"), .init("title"), .init("size", .right)], width: width)
        table.add([TableCell("1"), TableCell("漢字 and a long title", .added), TableCell("7")])
        table.add([TableCell("42"), TableCell("short")])
        table.add([TableCell("x"), TableCell("a\nb"), TableCell("1234"), TableCell("surplus")])
        return table
    }

    @Test("Tables are aligned")
    func tablesAreAligned() {
        #expect(
            table(width: nil).lines(style: .plain) == [
                "id  title                  size",
                "1   漢字 and a long title     7",
                "42  short",
                "x   a␊b                    1234",
            ])
        #expect(
            table(width: 20).lines(style: .plain) == [
                "id  title       size",
                "1   漢字 and …     7",
                "42  short",
                "x   a␊b         1234",
            ])
        #expect(table(width: 20).lines(style: .colored)[1] == "1   \u{1b}[32m漢字 and …\u{1b}[0m     7")
        #expect(table(width: 3).lines(style: .plain).count == 4)
        #expect(TableLayout([], width: 10).lines(style: .plain) == [])
    }

    @Test("Colours follow the option, the terminal and the environment")
    func colours() {
        func isColored(_ choice: ColorChoice, _ isTerminal: Bool, _ environment: [String: String] = [:]) -> Bool {
            Terminal(isTerminal: isTerminal, measuredWidth: nil, environment: environment).style(choice).isColored
        }
        #expect(isColored(.auto, true))
        #expect(!isColored(.auto, false))
        #expect(!isColored(.auto, true, ["NO_COLOR": "0"]))
        #expect(isColored(.auto, true, ["NO_COLOR": ""]))
        #expect(!isColored(.auto, true, ["TERM": "dumb"]))
        #expect(isColored(.always, false, ["NO_COLOR": "1"]))
        #expect(!isColored(.never, true))
    }

    @Test("Width is known on terminals only")
    func terminalWidth() {
        #expect(Terminal(isTerminal: false, measuredWidth: 50, environment: ["COLUMNS": "99"]).width == nil)
        #expect(Terminal(isTerminal: true, measuredWidth: 50, environment: [:]).width == 50)
        #expect(Terminal(isTerminal: true, measuredWidth: 50, environment: ["COLUMNS": "99"]).width == 99)
        #expect(Terminal(isTerminal: true, measuredWidth: nil, environment: ["COLUMNS": "-1"]).width == 80)
    }

    @Test(
        "Ages are readable",
        arguments: [
            (0, "0 s"), (1, "1 µs"), (350_999, "350 ms"), (1_000_000, "1 s"), (59_999_999, "59 s"), (60_000_000, "1 m"),
            (61_000_000, "1 m 1 s"),
            (97_200_000_000, "1 d 3 h"), (86_460_000_000, "1 d"), (366 * 86_400_000_000, "1 y 1 d"),
            (-7_200_000_000, "-2 h"),
            (Int64.min, "-292471 y 76 d"),
        ] as [(Int64, String)])
    func ages(microseconds: Int64, text: String) {
        #expect(Age.text(microseconds: microseconds) == text)
    }

    @Test("Progress is throttled, and silent in pipes")
    func progress() {
        var shown: [String] = []
        var time = ContinuousClock.now
        func bar(isTerminal: Bool) -> ProgressBar {
            ProgressBar(
                "import", total: 1000, unit: "lines",
                terminal: Terminal(isTerminal: isTerminal, measuredWidth: 60, environment: [:]),
                show: { shown.append($0) }, now: { time })
        }
        let silent = bar(isTerminal: false)
        let drawn = bar(isTerminal: true)
        for step in 0..<100 {
            time += .milliseconds(10)
            silent.update(step * 10)
            drawn.update(step * 10)
        }
        silent.finish()
        drawn.finish()
        drawn.finish()
        #expect(shown.count == 9)
        #expect(shown.last == "\r\u{1b}[K")
        #expect(shown.allSatisfy { DisplayWidth.of(String($0.dropFirst(4))) < 60 })
        #expect(
            drawn.line(500, elapsed: .seconds(2)) == "import  ████████████░░░░░░░░░░░░  50%  500 lines  250/s  2 s left"
        )
        let endless = ProgressBar(
            "scan", total: nil, unit: "events",
            terminal: Terminal(isTerminal: true, measuredWidth: 60, environment: [:]))
        #expect(endless.line(1_234_567, elapsed: .zero) == "scan  1,234,567 events  0/s")
    }

    @Test("Output arrives whole and in order")
    func orderOfOutput() throws {
        let pipe = Pipe()
        let output = StandardOutput(descriptor: pipe.fileHandleForWriting.fileDescriptor, isTerminal: false)
        let reading = pipe.fileHandleForReading
        let reader = BackgroundThread { reading.allBytes() }
        var expected = ""
        for index in 0..<20_000 {
            try output.writeLine("line \(index)")
            expected += "line \(index)\n"
        }
        try output.flush()
        try pipe.fileHandleForWriting.close()
        #expect(reader.wait() == Data(expected.utf8))
    }

    @Test("A reader that left isn't a failure")
    func brokenPipe() throws {
        signal(SIGPIPE, SIG_IGN)
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let output = StandardOutput(descriptor: pipe.fileHandleForWriting.fileDescriptor, isTerminal: true)
        #expect(throws: BrokenPipe.self) { try output.write("text") }
    }

    #if os(Linux)  // The device that is always full exists there only.
        @Test("A full disk is reported")
        func fullDisk() throws {
            let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
            let output = StandardOutput(descriptor: full.fileDescriptor, isTerminal: false)
            try output.write("text")
            #expect(try #require(throws: OutputFailure.self) { try output.flush() }.code == ENOSPC)
        }
    #endif
}
