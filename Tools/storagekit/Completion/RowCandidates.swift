import CSQLite
import Foundation
import StorageKit

/// Row keys that begin with a text, found by the key's index and never by reading the table.
struct RowCandidates {
    struct Key: Equatable {
        let text: String
        /// Whether more parts of the key follow.
        let isPartial: Bool
    }

    /// The values from one up to and not including another.
    private struct Interval {
        let lower: StorageValue
        let upper: StorageValue
    }

    private static let limit = 50

    let entity: CatalogEntity
    let connection: Connection

    func keys(beginning typed: String) throws -> [Key] {
        let columns = entity.key
        guard let first = columns.first else { return [] }
        if columns.count == 1 {
            return try values(of: first, beginning: typed, behind: []).map {
                Key(text: KeyText.text(of: [$0], in: entity), isPartial: false)
            }
        }
        let parts = KeyText.parts(of: typed)
        guard let last = parts.last, parts.count <= columns.count else { return [] }
        var known: [[StorageValue]] = [[]]
        for (part, column) in zip(parts.dropLast(), columns) {
            known = known.flatMap { key in KeyText.values(part, of: column).map { key + [$0] } }
        }
        let isPartial = parts.count < columns.count
        var keys: [Key] = []
        for key in known where keys.count < Self.limit {
            for value in try values(of: columns[parts.count - 1], beginning: last, behind: key) {
                // An additional empty part adds the comma that must follow.
                let text = KeyText.text(of: key + [value] + (isPartial ? [.text("")] : []), in: entity)
                keys.append(Key(text: text, isPartial: isPartial))
            }
        }
        return keys
    }

    /// Returns the distinct values of a column, in its order.
    ///
    /// - Parameter key: The columns of the key before it.
    private func values(
        of column: CatalogColumn, beginning typed: String, behind key: [StorageValue]
    ) throws -> [StorageValue] {
        var found: [StorageValue] = []
        for interval in Self.intervals(typed, of: column) where found.count < Self.limit {
            found += try values(of: column, in: interval, behind: key, limit: Self.limit - found.count)
        }
        return found
    }

    /// Jumps from one value to the next in the index, so that rows that share a value aren't read.
    private func values(
        of column: CatalogColumn, in interval: Interval?, behind key: [StorageValue], limit: Int
    ) throws -> [StorageValue] {
        let name = quoted(column.stored)
        var conditions = zip(entity.key, key).map { "\(quoted($0.0.stored)) = ?" }
        if interval != nil { conditions += ["\(name) < ?", "\(name) >= ?"] }
        func select(_ conditions: [String]) throws -> PreparedStatement {
            let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
            return try PreparedStatement(
                connection, "SELECT \(name) FROM \(quoted(entity.stored))\(condition) ORDER BY \(name) LIMIT 1")
        }
        let bounds = key + (interval.map { [$0.upper] } ?? [])
        var statement = try select(conditions)
        for (index, value) in (bounds + (interval.map { [$0.lower] } ?? [])).enumerated() {
            try statement.writer.bind(value, at: Int32(index + 1))
        }
        var found: [StorageValue] = []
        while found.count < limit, try statement.step() {
            let value = statement.row.value(at: 0)
            found.append(value)
            if found.count == 1 {
                if interval != nil { conditions.removeLast() }
                statement = try select(conditions + ["\(name) > ?"])
            } else {
                statement.reset()
            }
            for (index, value) in (bounds + [value]).enumerated() {
                try statement.writer.bind(value, at: Int32(index + 1))
            }
        }
        return found
    }

    // MARK: Intervals

    /// Returns the intervals of values whose text begins as typed; one without bounds if nothing is typed.
    private static func intervals(_ typed: String, of column: CatalogColumn) -> [Interval?] {
        if typed.isEmpty { return [nil] }
        if column.coding == ColumnSchema.uuid { return bytes(typed.filter { $0 != "-" }).map { [$0] } ?? [] }
        // An incomplete escape at the end can't be decoded yet.
        let escape = typed.lastIndex(of: "%").flatMap { typed.distance(from: $0, to: typed.endIndex) < 3 ? $0 : nil }
        let beginning = escape.map { String(typed[..<$0]) } ?? typed
        let text = Interval(lower: .text(beginning), upper: .text(beginning + "\u{10FFFF}"))
        switch column.affinity {
        case .text: return [text]
        case .integer: return integers(typed)
        case .blob, .numeric, .real: return integers(typed) + [text] + (bytes(typed).map { [$0] } ?? [])
        }
    }

    /// Returns the intervals of integers that begin with these digits: one for each number of digits.
    private static func integers(_ typed: String) -> [Interval] {
        guard let number = Int64(typed), "\(number)" == typed else { return [] }
        var found: [Interval] = []
        var (low, width): (Int64, Int64) = (number, 1)
        while true {
            found.append(
                number < 0
                    ? Interval(lower: .integer(low &- width &+ 1), upper: .integer(low &+ 1))
                    : Interval(lower: .integer(low), upper: .integer(low &+ width)))
            let (nextLow, lowOverflow) = low.multipliedReportingOverflow(by: 10)
            let (nextWidth, widthOverflow) = width.multipliedReportingOverflow(by: 10)
            let edge =
                number < 0
                ? nextLow.subtractingReportingOverflow(nextWidth) : nextLow.addingReportingOverflow(nextWidth)
            guard !lowOverflow, !widthOverflow, !edge.overflow, number != 0 else { return found }
            (low, width) = (nextLow, nextWidth)
        }
    }

    /// Returns the interval of bytes whose hexadecimal digits begin with these.
    private static func bytes(_ digits: String) -> Interval? {
        guard digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        func data(_ digits: String) -> Data {
            let digits = Array(digits)
            return Data(
                stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                    UInt8(String(digits[$0...$0 + 1]), radix: 16)
                })
        }
        let isEven = digits.count.isMultiple(of: 2)
        let upper = data(isEven ? digits : digits + "f") + Data(repeating: 0xFF, count: 17)
        return Interval(lower: .blob(data(isEven ? digits : digits + "0")), upper: .blob(upper))
    }
}
