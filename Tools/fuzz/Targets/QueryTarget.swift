import Foundation
import PredicateTestSupport
import StorageCore

/// A condition over columns of every affinity and collation: Swift answers as SQLite does, for whatever rows and values.
///
/// The input is a list of values, each a kind, a length and as many bytes, and behind them the choices that rows and the condition
/// are made by.
struct QueryTarget: FuzzTarget {
    static let name = "query"

    private static let mostValues = 6
    private let table: SQLiteTable

    init() throws { table = try SQLiteTable() }

    func run(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        var values: [StorageValue] = []
        while rest.count >= 2, values.count < Self.mostValues {
            let head = Array(rest.prefix(2))
            let content = rest.dropFirst(2).prefix(Int(head[1]))
            rest = rest.dropFirst(2 + content.count)
            if let value = Self.value(head[0], Data(content)) { values.append(value) }
        }
        var generator = PredicateGenerator(choices: Array(rest))
        generator.favourites = values
        let predicate = generator.predicate(depth: 3)
        try table.fill((0..<3).map { _ in generator.row() })
        do {
            let sql = try PredicateSQL(predicate) { "\"\($0)\"" }
            let expected = try table.answers(sql.text, sql.values)
            let evaluator = try PredicateEvaluator(predicate, columns: SQLiteTable.columns)
            // What the table keeps is what affinity makes of it.
            for (row, answer) in zip(try table.rows(), expected) where evaluator.evaluate(row) != answer {
                found("\(predicate) on \(row)")
            }
        } catch let failure as SQLiteTable.Failure where !failure.isBugOfRTRIM {
            found(failure.message)
        }
    }

    /// Nil for what no store holds: NaN, and texts with NUL.
    private static func value(_ kind: UInt8, _ bytes: Data) -> StorageValue? {
        let bits = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        switch kind % 4 {
        case 0: return .integer(Int64(bitPattern: bits))
        case 1:
            let number = Double(bitPattern: bits)
            return number.isNaN ? nil : .real(number)
        case 2:
            let text = String(decoding: bytes, as: UTF8.self)
            return text.utf8.contains(0) ? nil : .text(text)
        default: return .blob(bytes)
        }
    }

    /// Numbers in texts, and texts that are like each other.
    static func seeds() throws -> [String: [UInt8]] {
        func input(_ texts: [String]) -> [UInt8] {
            texts.flatMap { [2, UInt8($0.utf8.count)] + Array($0.utf8) } + (0..<64).map { UInt8($0 &* 37 & 255) }
        }
        return [
            "numbers": input(["0.1", "1e400", " +7.50", "9007199254740993", "-0", "1e-320"]),
            "patterns": input(["a%b_", "%A%", "\\%", "é", "É", "AbC"]),
        ]
    }
}
