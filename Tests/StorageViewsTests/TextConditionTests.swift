import CSQLite
import Foundation
import GRDB
import PredicateTestSupport
import StorageCore
import Testing

@testable import StorageRouting

/// Whether a search fits is reported from a row's words, without the index: as FTS5 reports it with the index.
@Suite struct TextConditionTests {
    private static let tokenizers = [
        "unicode61", "porter unicode61", "ascii", "trigram", "trigram case_sensitive 1",
        "unicode61 remove_diacritics 0 tokenchars '-_'", "porter unicode61 separators 'x'''",
    ]

    private static let words = [
        "alpha", "Alpha", "alphabet", "beta", "be", "bëta", "running", "run", "x-y", "x_y", "it's", "öl", "ÖL", "日本語",
        "日本", "a", "AND", "c++", "🦊", "12", "1.5", "naïve", "\u{65}\u{301}t\u{e9}", "ſ",
    ]

    private func text(_ count: Int, _ generator: inout PredicateGenerator) -> String {
        (0..<count).map { _ in Self.words.randomElement(using: &generator) ?? "" }
            .joined(separator: [" ", "  ", ", ", "\n"].randomElement(using: &generator) ?? " ")
    }

    private func query(_ generator: inout PredicateGenerator) -> String {
        var query = ""
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let word = text(1, &generator)
            let part =
                switch generator.next() % 6 {
                case 0: "\"\(text(Int.random(in: 1...3, using: &generator), &generator))\""
                case 1: String(word.prefix(Int.random(in: 1...4, using: &generator))) + "*"
                case 2: "\"\(text(2, &generator))\"*"
                case 3: "(\(word) OR \(text(1, &generator)))"
                default: word
                }
            query += ["", " OR ", " NOT ", " AND ", " ", " "].randomElement(using: &generator)! + part + " "
        }
        return query
    }

    @Test("A row matches where the index finds it", arguments: RouterSettings.seeds(14, from: 50_000))
    func matchesEqualIndex(seed: UInt64) throws {
        var generator = PredicateGenerator(seed: seed)
        let declaration = Self.tokenizers[Int(seed) % Self.tokenizers.count]
        let tokenizer = try #require(TextTokenizer(declaration))
        let queue = try DatabaseQueue()
        var found = 0
        try queue.write { db in
            let literal = declaration.replacing("'", with: "''")
            try db.execute(sql: "CREATE VIRTUAL TABLE texts USING fts5(a, b, tokenize='\(literal)')")
            var rows: [(a: String, b: String)] = []
            for _ in 0..<40 {
                let row = (
                    text(Int.random(in: 0...6, using: &generator), &generator),
                    text(Int.random(in: 0...2, using: &generator), &generator)
                )
                rows.append(row)
                try db.execute(sql: "INSERT INTO texts VALUES (?, ?)", arguments: [row.0, row.1])
            }
            let lists = rows.map { row in
                let words = WordList()
                for text in [row.a, row.b] {
                    words.beginText()
                    Array(text.utf8).withUnsafeBytes { tokenizer.cut($0, for: .row, into: words) }
                }
                return words
            }
            for _ in 0..<60 {
                let query = query(&generator)
                let keepsSigns = declaration.hasPrefix("trigram")
                guard let expression = SearchTextParser.expression(query, keepsSigns: keepsSigns) else { continue }
                let condition = try #require(TextCondition(expression, tokenizer))
                let wanted = try Int.fetchAll(
                    db, sql: "SELECT rowid FROM texts WHERE texts MATCH ?", arguments: [expression.text])
                let fitting = lists.indices.filter { condition.isTrue(lists[$0]) }.map { $0 + 1 }
                #expect(fitting == wanted, "seed \(seed), \(declaration): \(query) as \(expression.text)")
                found += wanted.count
                for place in fitting {
                    #expect(isFound(condition, lists[place - 1]), "seed \(seed): \(query) isn't found by its words")
                }
            }
        }
        #expect(found > 0)
    }

    /// Whether one of the condition's anchors is among the row's words.
    private func isFound(_ condition: TextCondition, _ words: WordList) -> Bool {
        condition.anchors.contains { anchor in
            (0..<words.count).contains { place in
                switch anchor {
                case .equal(let reading, let hash): Anchor.hash(equal: words[place], reading) == hash
                case .prefix(let reading, let length, let hash):
                    isPrefix(length, hash, Anchor.prefix(of: words[place].dropFirst().prefix(length), reading))
                default: false
                }
            }
        }
    }

    private func isPrefix(_ length: Int, _ hash: UInt64, _ anchor: Anchor) -> Bool {
        if case .prefix(_, length, hash) = anchor { true } else { false }
    }

    @Test("A tokenizer that isn't SQLite's is left to the index")
    func unsupportedTokenizer() {
        #expect(TextTokenizer("my own") == nil)
        #expect(TextTokenizer("unicode61 tokenchars") == nil)
    }
}
