import Foundation
import GRDB
import StorageEntities
import StorageKit
import StorageMaintenance
import TestSupport
import Testing

@StorageEntity
struct Document: Equatable {
    var id: Int
    var title: String
    var text: String
}

/// Searching real texts finds what a full-text index that is made by hand finds, with the same ranks and snippets.
///
/// The documents are the lines of this repository's own sources; `STORAGEKIT_HISTORIES` names a folder of change histories
/// (`.jsonl.zst`) whose rows are used instead, up to 100,000 from each.
@Suite(.serialized) struct SearchScaleTests {
    /// Without histories from outside the lines of the sources.
    private static let sets: [HistoryFile?] = HistoryFile.outside.isEmpty ? [nil] : HistoryFile.outside

    @Test("Every search equals that of a hand-made index", arguments: sets, ["porter", "unicode61"])
    func equalsHandMadeIndex(set: HistoryFile?, tokenizer: String) async throws {
        let documents = try set.map(Self.rows) ?? Self.sourceLines()
        let storage = try StorageKit.inMemory {
            $0.autoSchema(DocumentRecord.self)
            $0.addFullTextSearch(table: "documents", columns: ["title", "text"], tokenizer: tokenizer, prefixes: [2])
        }.facade
        let hand = try HandMadeIndex(tokenizer: tokenizer)
        for start in stride(from: 0, to: documents.count, by: 2_000) {
            let batch = Array(documents[start..<min(start + 2_000, documents.count)])
            try await storage.save(batch)
            try hand.save(batch)
            // No lag: what was saved is found by the next search.
            let last = batch[batch.count - 1]
            if let word = Self.words(last.text).first {
                let found = try await storage.searchCount(Document.self, query: word)
                #expect(try hand.count("\"\(word)\"") == found)
            }
        }
        try await compare(storage, hand, documents)
        // Changed and deleted rows leave the index as well.
        var changed: [Document] = []
        for index in stride(from: 0, to: documents.count, by: 17) {
            var document = documents[index]
            document.text = documents[(index * 7 + 3) % documents.count].text
            changed.append(document)
        }
        try await storage.save(changed)
        try hand.save(changed)
        let gone = Set(stride(from: 5, to: documents.count, by: 23).map { documents[$0].id })
        try await storage.write { tx in for id in gone { try tx.delete(Document.self, id: id) } }
        try hand.delete(gone)
        try await compare(storage, hand, documents)
        let report = try await storage.verify()
        #expect(report.isSound, "\(report.findings)")
    }

    private func compare(_ storage: Storage, _ hand: HandMadeIndex, _ documents: [Document]) async throws {
        var random = SplitMix64(seed: 7)
        var queries: [(simple: String, fts5: String)] = []
        while queries.count < 60 {
            let words = Self.words(documents[Int(random.next() % UInt64(documents.count))].text)
            guard words.count > 2 else { continue }
            let place = Int(random.next() % UInt64(words.count - 1))
            let (one, two) = (words[place], words[place + 1])
            // A word that is typed twice counts once; FTS5 would add its rank twice.
            guard one != two else { continue }
            switch queries.count % 4 {
            case 0: queries.append((one, "\"\(one)\""))
            case 1: queries.append(("\(one) \(two)", "\"\(one)\" AND \"\(two)\""))
            case 2: queries.append(("\"\(one) \(two)\"", "\"\(one) \(two)\""))
            default: queries.append(("\(one.prefix(3))* OR \(two)", "\"\(one.prefix(3))\" * OR \"\(two)\""))
            }
        }
        var found = 0
        for query in queries {
            let ours = try await storage.search(
                Document.self, query: query.simple, limit: 100, excerpt: .snippet(column: "text"))
            let theirs = try hand.search(query.fts5, limit: 100)
            let isSame =
                ours.map(\.entity.id) == theirs.map(\.id) && ours.map(\.rank) == theirs.map(\.rank)
                && ours.map(\.snippet) == theirs.map(\.snippet)
            #expect(isSame, "\(query.simple)")
            let plain = try await storage.search(Document.self, query: query.simple, limit: 30, offset: 5)
            let isSamePage =
                plain.map(\.entity.id) == theirs.dropFirst(5).prefix(30).map(\.id)
                && plain.map(\.rank) == theirs.dropFirst(5).prefix(30).map(\.rank)
            #expect(isSamePage, "\(query.simple)")
            found += ours.count
        }
        #expect(found > queries.count)
    }
}

// MARK: The index made by hand

/// An FTS5 table with external content, fed by hand as its documentation says.
private final class HandMadeIndex {
    private let queue: DatabaseQueue

    init(tokenizer: String) throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE documents (id INTEGER PRIMARY KEY, title TEXT, text TEXT);
                    CREATE VIRTUAL TABLE found USING fts5(
                      title, text, content='documents', content_rowid='id', tokenize='\(tokenizer)', prefix='2');
                    """)
        }
    }

    func save(_ documents: [Document]) throws {
        try queue.write { db in
            for document in documents {
                try remove(document.id, db)
                try db.execute(
                    sql: "INSERT OR REPLACE INTO documents VALUES (?, ?, ?)",
                    arguments: [document.id, document.title, document.text])
                try db.execute(
                    sql: "INSERT INTO found(rowid, title, text) VALUES (?, ?, ?)",
                    arguments: [document.id, document.title, document.text])
            }
        }
    }

    func delete(_ ids: Set<Int>) throws {
        try queue.write { db in
            for id in ids {
                try remove(id, db)
                try db.execute(sql: "DELETE FROM documents WHERE id = ?", arguments: [id])
            }
        }
    }

    private func remove(_ id: Int, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO found(found, rowid, title, text) SELECT 'delete', id, title, text FROM documents WHERE id = ?
                """, arguments: [id])
    }

    func count(_ expression: String) throws -> Int {
        try queue.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM found WHERE found MATCH ?", arguments: [expression]) ?? 0
        }
    }

    func search(_ expression: String, limit: Int) throws -> [(id: Int, rank: Double, snippet: String?)] {
        try queue.read { db in
            try GRDB.Row.fetchAll(
                db,
                sql: """
                    SELECT rowid, rank, snippet(found, 1, '<b>', '</b>', '...', 32) AS excerpt FROM found
                    WHERE found MATCH ? ORDER BY rank, rowid LIMIT ?
                    """, arguments: [expression, limit]
            ).map { ($0["rowid"], $0["rank"], $0["excerpt"]) }
        }
    }
}

// MARK: Texts

extension SearchScaleTests {
    private static func words(_ text: String) -> [String] {
        text.split { !$0.isLetter }.map(String.init).filter { word in
            word.count > 2 && word.allSatisfy(\.isASCII) && !["AND", "NOT"].contains(word)
        }
    }

    private static func sourceLines() throws -> [Document] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        var lines: [(file: String, text: Substring)] = []
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        // The file system lists them in any order; a seed shall always choose the same lines.
        for file in files!.compactMap({ $0 as? URL }).sorted(by: { $0.path < $1.path })
        where ["swift", "c", "h", "md"].contains(file.pathExtension) {
            let text = try String(contentsOf: file, encoding: .utf8)
            lines += text.split(separator: "\n").map { (file.lastPathComponent, $0) }
        }
        // So many of all files, whatever the sources grow to, unless more are asked for.
        let step = max(1, lines.count / max(1, Int(6_000 * testScale)))
        return stride(from: 0, to: lines.count, by: step).enumerated().map { id, place in
            Document(id: id, title: lines[place].file, text: String(lines[place].text))
        }
    }

    private static func rows(of file: HistoryFile) throws -> [Document] {
        let changes = try file.changes(limit: 100_000)
        return changes.compactMap { change in change.row.map { (change.id, $0) } }.enumerated().map { number, change in
            let (id, row) = change
            let texts = row.keys.sorted().compactMap { row[$0] as? String }
            return Document(id: number, title: id, text: texts.joined(separator: "\n"))
        }
    }
}
