import Testing

@testable import StorageKitTool

/// Frames are as wide as they say, whatever text is in them.
@Suite struct FrameTests {
    @Test("Wide, combining and hostile text", arguments: [1, 2, 3, 7, 40])
    func widths(columns: Int) {
        let texts = [
            "日本語日本語", "e\u{301}e\u{301}e\u{301}", "👩‍👩‍👧👩‍👩‍👧", "a\u{200b}b\u{feff}c", "\u{301}alone", "🇩🇪🇫🇷",
            "a" + String(repeating: "\u{301}", count: 10_000), "\u{1b}[2Jx\u{7}\u{9b}31m\u{202e}y", "한국어 ㄱ", "\r\n\t",
        ]
        for text in texts {
            for start in 0..<5 {
                var frame = Frame(FrameSize(rows: 1, columns: columns))
                frame.draw(StyledLine(text), row: 0, from: start)
                let row = frame.rows[0]
                #expect(row.count == columns)
                // What takes two columns has an empty cell behind it, and nothing else has.
                for (index, cell) in row.enumerated() where !cell.text.isEmpty {
                    let width = DisplayWidth.of(cell.text)
                    #expect(width == 1 || width == 2 && row[index + 1].text.isEmpty, "\(text) \(cell.text)")
                    #expect(cell.text.unicodeScalars.count <= 8)
                }
                #expect(!row.contains { $0.text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x9b } })
            }
        }
    }

    @Test("A cut line ends with an ellipsis")
    func cutLines() {
        var frame = Frame(FrameSize(rows: 3, columns: 6))
        frame.draw(StyledLine("123456"), row: 0)
        frame.draw(StyledLine("1234567"), row: 1)
        frame.draw(StyledLine("1234日本"), row: 2, lead: "> ")
        #expect(frame.text == ["123456", "12345…", "> 123…"])
    }

    @Test("Only rows that differ are written, and nothing of the text but what is fit for a terminal")
    func writtenRows() {
        var writer = FrameWriter(.colored)
        var frame = Frame(FrameSize(rows: 2, columns: 20))
        frame.draw(StyledLine("first\u{1b}[2J", .added), row: 0)
        let first = writer.text(of: frame)
        #expect(first.contains("\u{1b}[1;1H\u{1b}[0;32mfirst␛\u{1b}[7G[2J"))
        #expect(writer.text(of: frame) == "")
        frame.draw(StyledLine("日x"), row: 1)
        let second = writer.text(of: frame)
        #expect(!second.contains("first"))
        // Where a terminal shows the character in one column, the next is where it should be all the same.
        #expect(second.contains("\u{1b}[2;1H日\u{1b}[3Gx"))
    }
}
