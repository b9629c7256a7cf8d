internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageEntities
internal import StorageLog
internal import StorageRouting

/// The order of a list's rows as an order of bytes: each row has a key, and comparing keys gives the order in which
/// SQLite sorts the rows.
///
/// A key consists of the row's values in the order's columns, each a separate part (``KeyBuffer/endPart(from:)``).
/// Parts in descending order have all bits inverted.
struct RowSorting {
    private struct Term {
        /// The column's index in the table's select, and in the layout.
        let selected: Int
        let layoutIndex: Int
        let reading: ColumnReading
        let isDescending: Bool
    }

    private let terms: [Term]
    private let buffer = KeyBuffer()

    /// - Returns: Nil if only SQLite can compare the rows, because of a custom collation, or if rows have no key.
    init?(_ order: [RowOrdering], of table: QueryTable, in layout: RowLayout) throws {
        guard !table.key.isEmpty else { return nil }
        var terms: [Term] = []
        for ordering in order {
            _ = try table.column(named: ordering.column)
            guard let selected = table.columnIndex(of: ordering.column) else { return nil }
            let layoutIndex = try layout.index(named: ordering.column)
            guard let collation = ordering.collation ?? layout.columns[layoutIndex].collation else { return nil }
            terms.append(
                Term(
                    selected: selected, layoutIndex: layoutIndex,
                    reading: ColumnReading(columnIndex: layoutIndex, conversion: .none, collation: collation),
                    isDescending: ordering.order == .descending))
        }
        self.terms = terms
    }

    /// The names of the columns that decide.
    func columns(_ layout: RowLayout) -> [String] { terms.map { layout.columns[$0.layoutIndex].name } }

    // MARK: Keys

    /// The key of a statement's current row.
    func key(of row: RowReader) -> [UInt8] {
        let memory = ValueMemory()
        return withExtendedLifetime(memory) {
            key { memory.keep(row, Int32($0.selected)) } ?? []
        }
    }

    /// The key of a changed row; nil if a value isn't known.
    func key(of change: ChangedRow, _ image: RowKeys.Image) -> [UInt8]? { key { change.value($0.layoutIndex, image) } }

    private func key(_ value: (Term) -> storage_value?) -> [UInt8]? {
        buffer.removeAll()
        for term in terms {
            guard let value = value(term) else { return nil }
            let start = buffer.count
            ComparisonKey.appendPart(value, term.reading, to: buffer)
            if term.isDescending { buffer.invert(from: start) }
        }
        return Array(buffer.bytes(from: 0))
    }

    static func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { ComparisonKey.order(left, $0) } } < 0
    }

    // MARK: Values

    /// Values that sort like the row of a key. They needn't be the row's own: `1` and `1.0`, or two texts that a
    /// collation considers equal, have the same key.
    func values(of key: [UInt8]) -> [StorageValue] {
        var values: [StorageValue] = []
        var offset = 0
        for term in terms {
            let mask: UInt8 = term.isDescending ? 0xFF : 0
            var bytes: [UInt8] = []
            if key[offset] ^ mask == KeyBuffer.Part.end {
                offset += 1
                values.append(.null)
                continue
            }
            while true {
                let byte = key[offset] ^ mask
                offset += 1
                if byte == 0 {
                    let next = key[offset] ^ mask
                    offset += 1
                    if next == KeyBuffer.Part.end { break }
                }
                bytes.append(byte)
            }
            values.append(ComparisonKey.value(of: bytes))
        }
        return values
    }
}

extension ComparisonKey {
    /// A value that has this key.
    static func value(of key: [UInt8]) -> StorageValue {
        let content = key.dropFirst()
        switch key[0] {
        case Kind.text: return .text(String(decoding: content, as: UTF8.self))
        case Kind.blob: return .blob(Data(content))
        default:
            let bits = content.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let beyond = content.suffix(2).reduce(Int64(0)) { $0 << 8 | Int64($1) }
            let floor = Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
            guard let integer = Int64(exactly: floor) else { return .real(floor) }
            return .integer(integer + beyond)
        }
    }
}
