import Foundation
import Testing

/// What people ask before they choose a store is answered at most two links from the README, in the words that `ReaderReview.md` quotes.
@Suite struct ReaderReviewTests {
    /// A page, and the section of it where the reader continues; nil for the whole page.
    private struct Link {
        let page: String
        let section: String?
    }

    private struct Question {
        let number: Int?
        /// From the README to the answer.
        let links: [Link]
        let quotation: String
    }

    private struct Documentation {
        let readme: String
        /// The pages of the catalogue, by their names without the suffix.
        let pages: [String: String]

        /// Why a reader doesn't find a question's answer; nil if it is there.
        func problem(of question: Question) -> String? {
            guard question.links.count <= 2 else { return "more than two links" }
            guard !question.quotation.isEmpty else { return "no quotation" }
            var text = readme
            for (index, link) in question.links.enumerated() {
                // The README is read on the repository's host, where a link is a path.
                let targets =
                    index == 0
                    ? ["/\(link.page).md)", "/\(link.page).md#"] : ["<doc:\(link.page)>", "<doc:\(link.page)#"]
                guard targets.contains(where: { text.contains($0) }) else { return "no link to \(link.page)" }
                guard let page = pages[link.page] else { return "no page \(link.page)" }
                guard let section = link.section else {
                    text = page
                    continue
                }
                guard let found = Self.section(section, of: page) else { return "no section \(section)" }
                text = found
            }
            return Self.words(text).contains(Self.words(question.quotation)) ? nil : "not there: \(question.quotation)"
        }

        /// The lines between a heading and the next one of its level or above.
        private static func section(_ anchor: String, of page: String) -> String? {
            var found: [Substring] = []
            var level: Int?
            var isCode = false
            for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.hasPrefix("```") { isCode.toggle() }
                let signs = isCode ? 0 : line.prefix { $0 == "#" }.count
                if signs > 0, line.dropFirst(signs).hasPrefix(" ") {
                    if let level, signs <= level { break }
                    if level == nil, Self.anchor(of: line.dropFirst(signs + 1)) == anchor { level = signs }
                } else if level != nil {
                    found.append(line)
                }
            }
            return level == nil ? nil : found.joined(separator: "\n")
        }

        /// A heading as DocC makes a link of it.
        private static func anchor(of heading: Substring) -> String {
            heading.filter { !"`*'’".contains($0) }
                .split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "-" }.joined(separator: "-")
        }

        /// The text however its lines are broken.
        private static func words(_ text: String) -> String {
            text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func documentation() throws -> Documentation {
        let catalogue = root.appendingPathComponent("Sources/StorageKit/Documentation.docc")
        var pages: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: catalogue.path) where path.hasSuffix(".md") {
            let url = catalogue.appendingPathComponent(path)
            pages[url.deletingPathExtension().lastPathComponent] = try String(contentsOf: url, encoding: .utf8)
        }
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        return Documentation(readme: readme, pages: pages)
    }

    /// Each question of the page is a section: its number, a line with the links, and the quotation.
    private static func questions(in page: String) -> [Question] {
        page.components(separatedBy: "\n### ").dropFirst().map { section in
            let lines = section.split(separator: "\n")
            let path = lines.first { $0.hasPrefix("README") } ?? ""
            return Question(
                number: Int(section.prefix(while: \.isNumber)),
                links: path.matches(of: /<doc:([^>#]+)#?([^>]*)>/).map {
                    Link(page: String($0.1), section: $0.2.isEmpty ? nil : String($0.2))
                },
                quotation: lines.filter { $0.hasPrefix("> ") }.map { $0.dropFirst(2) }.joined(separator: " "))
        }
    }

    @Test("Each question is answered at most two links from the README, as quoted")
    func answers() throws {
        let documentation = try Self.documentation()
        let questions = Self.questions(in: try #require(documentation.pages["ReaderReview"]))
        #expect(questions.count == 20)
        #expect(questions.compactMap(\.number) == Array(1...20))
        for question in questions {
            let problem = documentation.problem(of: question)
            #expect(problem == nil, "\(question.number ?? 0): \(problem ?? "")")
        }
    }

    @Test(
        "An answer that isn't where it should be is found",
        arguments: [
            ("README\n\n> It is small.", nil), ("README → <doc:A>\n\n> Yes, it\n> does.", nil),
            ("README → <doc:A#It-asks> → <doc:B#Its-answer>\n\n> No.", nil),
            ("README → <doc:A>\n\n> No.", "not there: No."), ("README → <doc:A>\n", "no quotation"),
            ("README → <doc:B>\n\n> No.", "no link to B"),
            ("README → <doc:A#Its-end> → <doc:B>\n\n> No.", "no link to B"),
            ("README → <doc:A#Nothing>\n\n> Yes", "no section Nothing"),
            ("README → <doc:A#It-asks> → <doc:C>\n\n> No.", "no page C"),
            ("README → <doc:A> → <doc:B> → <doc:A>\n\n> Yes", "more than two links"),
        ] as [(String, String?)])
    func problems(section: String, expected: String?) throws {
        let a =
            "# A\n\n## It asks\n\nSee <doc:B#Its-answer>, <doc:C>.\n\n```sh\n# Its end\n```\n\n## Its end\n\nYes,\nit does.\n"
        let documentation = Documentation(
            readme: "It is\nsmall. See [A](Sources/A.md).", pages: ["A": a, "B": "# B\n\n## It's answer\n\nNo.\n"])
        let question = try #require(Self.questions(in: "# Questions\n\n### 1. What?\n\n\(section)\n").first)
        #expect(question.number == 1)
        #expect(documentation.problem(of: question) == expected)
    }
}
