import Foundation
import Testing

/// Public comments, errors, help and pages use the field's words. `Glossary.md` explains them; here are those that must not come back.
@Suite struct WordsTests {
    private struct Word {
        /// A regular expression of whole words, in which a space is any white space.
        let pattern: String
        let instead: String

        init(_ pattern: String, _ instead: String) {
            self.pattern = pattern
            self.instead = instead
        }
    }

    private static let words = [
        Word("(un)?told|tells?|tellings?", "report, return, emit, notify; distinguish"),
        Word("(take|takes|taken|taking|took) ((it|them|this|that) )?in", "apply, process, accept"),
        Word("(take|takes|taken|taking|took) ((it|them|this|that) )?back", "revert, undo"),
        Word("(give|gives|given|giving|gave) ((it|them|this|that) )?back", "return, send"),
        Word("(go|goes|going|gone|went) on", "continue, resume"),
        Word("(comes?|came) (and|or) (goes?|went)", "insert and delete again; appear or disappear"),
        Word("(made|makes?|making) ((it|them) )?again|anew", "rebuild, recreate; again"),
        Word("(lays?|laid|laying) aside", "dead-letter, park"),
        Word("pass(ed|es|ing) over|to pass over", "skip"),
        Word("look(ed|s|ing)? through", "search, ignore"),
        Word("(holds?|held|holding) to (the|a|its|what|their|each|one|replay)", "check against, compare with"),
        Word("(?<!-)stands?(?! for)(?!-)|(?<!-)standing|stood", "is; paused, stalled"),
        Word("hears? of|heard of", "is notified of"),
        Word("rings?|rung|ringing", "notify"),
        Word("become?s? of|became of", "happen to"),
        Word("in (the|its|their) way", "conflict, block"),
        Word("taken? for", "count as, mistake for"),
        Word("mend(s|ed|ing)?", "fix, repair"),
        Word("hydrat(e|es|ed|ing)", "load"),
        Word("(?<!in )(?<!in-)(?<!takes )(?<!take )(?<!took )places?", "position, index, location; point"),
        Word("stretch(es)?", "range, window"),
        Word("rows? of the log", "segment"),
        Word("row numbers?", "rowid"),
        Word("remarks?", "note, annotation"),
        Word("news", "pending updates"),
        Word("of then|of now", "as recorded, current"),
        Word("pasts", "snapshots"),
        Word("sieves?|mailbox(es)?|outlets?|watchm[ae]n", "filter, queue, sink, deadline"),
        Word("unconcerned", "unaffected"),
        Word("(no|some|any|every)body('s)?", "no user, no process, another client"),
        Word("who(m)?ever", "a caller, the client that"),
        Word("from now on", "later; after this call"),
        Word(
            "(that|what) there (is|are)(?! (no|a|an|other|one|more|none|nothing|any|to) )", "existing, all"),
        Word("of yours", "your own"),
        Word("in vain", "needlessly"),
    ]

    private struct Exception: Hashable {
        /// The name alone, so that files may move.
        let file: String
        let word: String
    }

    /// Each with its reason.
    private static let exceptions: Set<Exception> = [
        // A column of a common table expression.
        Exception(file: "FullTextCheck.swift", word: "place"),
        Exception(file: "Search.swift", word: "place"),
        // A variable of zsh.
        Exception(file: "CompletionScript.swift", word: "mend"),
        // A column of the file's format.
        Exception(file: "CatalogEntity+Catalog.swift", word: "place"),
        Exception(file: "StoreSchema.swift", word: "place"),
    ]

    private struct Finding {
        let line: Int
        let found: String
        let word: Word
    }

    @Test("Public text uses the words of the field")
    func publicText() throws {
        let search = try Search(Self.words)
        var unused = Self.exceptions
        for file in try Self.files() {
            let content = try String(contentsOf: Self.root.appendingPathComponent(file), encoding: .utf8)
            let text = file.hasSuffix(".swift") ? UserText(swift: content) : UserText(markdown: content)
            for finding in search.findings(in: text) {
                let exception = Exception(file: URL(fileURLWithPath: file).lastPathComponent, word: finding.found)
                unused.remove(exception)
                if !Self.exceptions.contains(exception) {
                    Issue.record(
                        "\(file):\(finding.line): \"\(finding.found)\"; the field says: \(finding.word.instead)")
                }
            }
        }
        #expect(unused.isEmpty, "These exceptions aren't needed any more.")
    }

    @Test("Comments of public declarations and literals are checked")
    func checkedText() throws {
        let source = """
            /// Tells the time.
            @discardableResult
            public func first() {}
            /// Told to nobody outside.
            func second() { throw Error("Nobody is told \\(news("stood")).") }
            public enum Third {
                // From now on.
                /// Goes on.
                case fourth
                /// Goes on.
                private var fifth: Int
            }
            public protocol Sixth {
                /// Stands for `whoever`, and stands
                /// still; in place of a text that was made
                /// again.
                ///
                /// ```swift
                /// let news = 0
                /// ```
                var seventh: Int { get }
            }
            let eighth = \"\"\"
                Whoever reads this
                \"\"\"
            let ninth = "would_mend"
            """
        let findings = try Search(Self.words).findings(in: UserText(swift: source))
        #expect(
            findings.map { "\($0.line) \($0.found)" } == [
                "1 tells", "5 nobody", "5 told", "8 goes on", "14 stands", "15 made again", "24 whoever",
                "26 mend",
            ])
    }

    // MARK: Searching

    private struct Search {
        private let any: NSRegularExpression
        private let each: [(word: Word, expression: NSRegularExpression)]

        init(_ words: [Word]) throws {
            any = try Self.expression(words.map(\.pattern).joined(separator: "|"))
            each = try words.map { ($0, try Self.expression($0.pattern)) }
        }

        private static func expression(_ pattern: String) throws -> NSRegularExpression {
            let pattern = pattern.replacing(" )", with: "\\s)").replacing(" ", with: "\\s+")
            // Underscores separate words, so that keys and columns are checked.
            return try NSRegularExpression(
                pattern: "(?<![^\\W_])(?:\(pattern))(?![^\\W_])", options: .caseInsensitive)
        }

        /// In the order of the text. A finding that goes over the end of a line is one of its first line.
        func findings(in text: UserText) -> [Finding] {
            let joined = text.lines.map(\.text).joined(separator: "\n") as NSString
            let all = NSRange(location: 0, length: joined.length)
            guard any.firstMatch(in: joined as String, range: all) != nil else { return [] }
            var findings: [(location: Int, finding: Finding)] = []
            for (word, expression) in each {
                for match in expression.matches(in: joined as String, range: all) {
                    let lines = joined.substring(to: match.range.location).filter { $0 == "\n" }.count
                    let found = joined.substring(with: match.range).lowercased().split { $0.isWhitespace }
                    findings.append(
                        (
                            match.range.location,
                            Finding(line: text.lines[lines].number, found: found.joined(separator: " "), word: word)
                        ))
                }
            }
            return findings.sorted { $0.location < $1.location }.map(\.finding)
        }
    }

    // MARK: Files

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func files() throws -> [String] {
        try [
            "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md",
            "Sources/StorageServer/Protocol/openapi.json",
        ]
            + files(in: "Sources", suffix: ".swift") + files(in: "Tools/storagekit", suffix: ".swift")
            + files(in: "Sources/StorageKit/Documentation.docc", suffix: ".md")
    }

    private static func files(in folder: String, suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(suffix) }.sorted().map { "\(folder)/\($0)" }
    }
}
