import GRDB
import PredicateTestSupport
import StorageCore

@testable import StorageLog

/// Random transactions on ``RoutedStore``'s rows: rows come, change, go, come again under the same key, take other keys,
/// several at once; some transactions are rolled back.
enum RandomRows {
    private struct Undone: Error {}

    /// How many keys there are, so that rows meet often.
    static let keys = 16

    /// - Parameter canFail: Whether some transactions are rolled back.
    static func commit(
        to store: StorageEngine, _ generator: inout PredicateGenerator, canFail: Bool = true
    ) async throws {
        var copy = generator
        generator = PredicateGenerator(seed: generator.next())
        let isUndone = Int.random(in: 0..<8, using: &copy) == 0 && canFail
        let statements = (0..<Int.random(in: 1...4, using: &copy)).map { _ in statement(&copy) }
        do {
            _ = try await store.commit(CommitMetadata()) { _, db in
                for statement in statements {
                    try db.execute(sql: statement.sql, arguments: StatementArguments(statement.values))
                }
                if isUndone { throw Undone() }
            }
        } catch is Undone {
        }
    }

    /// The same on the calling thread.
    static func commitNow(to store: StorageEngine, seed: UInt64) throws {
        try store.withWriterNow { writer, db in
            var generator = PredicateGenerator(seed: seed)
            _ = try writer.group(db) {
                try writer.commit(CommitMetadata()) { for _ in 0..<3 { try run(db, &generator) } }
            }
        }
    }

    static func run(_ db: Database, _ generator: inout PredicateGenerator) throws {
        let statement = statement(&generator)
        try db.execute(sql: statement.sql, arguments: StatementArguments(statement.values))
    }

    private static func statement(_ generator: inout PredicateGenerator) -> (sql: String, values: [StorageValue]) {
        func key() -> StorageValue { .text("k\(Int.random(in: 0..<keys, using: &generator))") }
        let names = RoutedStore.columns.dropFirst().map(quoted)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4:
            let marks = Array(repeating: "?", count: names.count + 1).joined(separator: ", ")
            return (
                "INSERT OR REPLACE INTO rows(id, \(names.joined(separator: ", "))) VALUES (\(marks))",
                [key()] + names.map { _ in generator.value() }
            )
        case 4..<8:
            let chosen = names.filter { _ in Int.random(in: 0..<5, using: &generator) == 0 }
            let changed = chosen.isEmpty ? [names[0]] : chosen
            let comparison = generator.next() % 4 == 0 ? ">" : "="
            return (
                "UPDATE rows SET \(changed.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id \(comparison) ?",
                changed.map { _ in generator.value() } + [key()]
            )
        case 8: return ("DELETE FROM rows WHERE id = ?", [key()])
        default: return ("UPDATE OR REPLACE rows SET id = ? WHERE id = ?", [key(), key()])
        }
    }
}

extension StatementArguments {
    init(_ values: [StorageValue]) {
        self.init(
            values.map { value -> (any DatabaseValueConvertible)? in
                switch value {
                case .null: nil
                case .integer(let value): value
                case .real(let value): value
                case .text(let value): value
                case .blob(let value): value
                }
            })
    }
}
