import Foundation
import Testing

/// `storagekit manual`: a page that formatters take without complaint, with every command and option on it.
struct ManualTests {
    private static let requests: Set<String> = ["TH", "SH", "SS", "PP", "TP", "RS", "RE", "EX", "EE", "nh", "ad"]

    @Test("The page is well-formed")
    func pageIsWellFormed() throws {
        let page = try ToolProcess.run(["manual"], store: nil)
        #expect(page.status == 0)
        #expect(page.errors.isEmpty)
        #expect(page.output.utf8.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
        let lines = page.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first?.hasPrefix(#".TH "STORAGEKIT" "1""#) ?? false)
        var depth = 0
        for line in lines.dropLast() {
            #expect(!line.isEmpty, "an empty line breaks a paragraph")
            if line.hasPrefix(".") {
                let request = String(line.dropFirst().prefix { $0 != " " })
                #expect(Self.requests.contains(request), "\(line)")
                depth += request == "RS" ? 1 : request == "RE" ? -1 : 0
            }
            #expect(!line.hasPrefix("'"))
            let bold = line.components(separatedBy: "\\fB").count + line.components(separatedBy: "\\fI").count
            #expect(bold - 2 == line.components(separatedBy: "\\fR").count - 1, "\(line)")
        }
        #expect(depth == 0)
    }

    @Test("Every command and option is on it")
    func everyCommandAndOption() throws {
        let page = try ToolProcess.run(["manual"], store: nil).output.replacingOccurrences(of: "\\-", with: "-")
        let help = try ToolProcess.run(["--help"], store: nil).output
        let commands = help.split(separator: "\n").drop { !$0.hasPrefix("SUBCOMMANDS") }.dropFirst()
            .compactMap { $0.wholeMatch(of: #/  ([a-z][a-z-]*)( .*)?/#).map { String($0.output.1) } }
        #expect(commands.count > 20)
        for command in commands {
            #expect(page.contains("\n.SS \"\(command)"), "\(command)")
            let options = try ToolProcess.run([command, "--help"], store: nil).output.matches(of: /--[a-z][a-z-]+/)
            for option in Set(options.map { String($0.output) }).subtracting(["--help", "--version"]) {
                #expect(page.contains(option), "\(command) \(option)")
            }
        }
    }

    /// groff says nothing with all of its warnings on, and the page reads as it should.
    @Test("Formatters read it", .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff")))
    func formattersReadIt() throws {
        let read = try ToolProcess.shell("storagekit manual | groff -man -Tutf8 -ww -P-c", store: nil)
        #expect(read.status == 0, "\(read.errors)")
        #expect(read.errors.isEmpty, "\(read.errors)")
        let plain = read.output.replacing(/.\u{8}/, with: "")
        for text in [
            "storagekit - inspect, replay", "   log [RANGE-OR-TARGET...]", "--break BREAK",
            "storagekit replay -s app.sqlite -q --watch 'orders/42#status'", "EXIT STATUS", "@1234, @1234~",
        ] {
            #expect(plain.contains(text), "\(text)")
        }
    }
}
