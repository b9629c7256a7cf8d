import Foundation
import GRDB
import StorageCore

/// What a person types into a search field: nothing of it is an error, and FTS5 takes what is made of it.
struct SearchTarget: FuzzTarget {
    static let name = "search"

    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter');
                    CREATE VIRTUAL TABLE parts USING fts5(text, tokenize = 'trigram');
                    INSERT INTO words VALUES ('the quick brown fox'), ('a NOT b'), ('größe 日本');
                    INSERT INTO parts SELECT text FROM words;
                    """)
        }
    }

    func run(_ bytes: UnsafeRawBufferPointer) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        for (table, keepsSigns) in [("words", false), ("parts", true)] {
            guard let expression = SearchTextParser.expression(text, keepsSigns: keepsSigns) else { continue }
            do {
                _ = try queue.read { db in
                    try Int.fetchOne(
                        db, sql: "SELECT count(*) FROM \(table) WHERE \(table) MATCH ?", arguments: [expression.text])
                }
            } catch {
                found("FTS5 refuses \(expression.text): \(error)")
            }
        }
    }
}
