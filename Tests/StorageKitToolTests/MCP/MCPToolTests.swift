import Foundation
import Testing

@testable import StorageKitTool

/// The parts of the server by themselves.
@Suite struct MCPToolTests {
    @Test("Each argument of a tool is one of its command")
    func arguments() throws {
        for tool in MCPTool.all {
            let help = try ToolProcess.run(tool.command.filter { !$0.hasPrefix("-") } + ["--help"], store: nil).output
            for parameter in tool.parameters where !parameter.isPositional {
                #expect(help.contains(parameter.optionName), "\(tool.name): \(parameter.name)")
            }
            let listing = try tool.listing(for: .june2025).text
            #expect(!listing.contains(#""description":"""#), "\(tool.name)")
            #expect(!listing.contains("storagekit "), "\(tool.name) names the command line")
        }
    }

    @Test("No tool names a command that writes")
    func readingOnly() {
        let writing = [
            "import", "adopt", "exec", "record", "rebuild", "revert", "redo", "restore-state", "restore", "backup",
        ]
        for tool in MCPTool.all {
            #expect(!writing.contains(tool.command[0]))
            #expect(tool.command[0] != "undo" || tool.command.contains("--dry-run"))
        }
    }

    @Test("Lines are cut wherever the pieces end", arguments: 1...7)
    func lines(piece: Int) {
        let bytes = Array("one\n\nfour and more\ntwo\nrest".utf8)
        var splitter = LineSplitter(limit: 5)
        var found: [String] = []
        func add(_ line: LineSplitter.Line) {
            switch line {
            case .text(let text): found.append(String(decoding: text, as: UTF8.self))
            case .tooLong(let length): found.append("\(length) bytes")
            }
        }
        for start in stride(from: 0, to: bytes.count, by: piece) {
            splitter.feed(bytes[start..<min(start + piece, bytes.count)], add)
        }
        if let line = splitter.rest() { add(line) }
        #expect(found == ["one", "", "13 bytes", "two", "rest"])
    }

    @Test("Ids are equal however they are escaped")
    func identifiers() {
        #expect(MCPMessage.identifier(#""\u0061""#) == #""a""#)
        #expect(MCPMessage.identifier("-7") == "-7")
        for wrong in ["1.5", "null", "[]", #""\u0000""#, "99999999999999999999"] {
            #expect(MCPMessage.identifier(wrong) == nil, "\(wrong)")
        }
    }

    @Test("What nobody sees is escaped, and means the same")
    func hiddenText() {
        #expect(MCPText.escaped(#"{"a":"zoë 漢 🎉"}"#) == #"{"a":"zoë 漢 🎉"}"#)
        #expect(MCPText.escaped("\"\u{202e}\u{e0041}\u{85}\"") == #""\u202e\udb40\udc41\u0085""#)
    }
}
