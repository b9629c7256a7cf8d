internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageLog
internal import StorageProjections

/// The order of a list's rows as an order of bytes: each row has a key, and the keys stand to one another as SQLite
/// sorts the rows.
///
/// A key is the row's values in the order, each with its kind before it and an end behind it that no value contains;
/// where the order is descending, all bits are turned.
struct RowSorting {
    private struct Term {
        /// The column's place in the table's select, and in the layout.
        let selected: Int
        let laid: Int
        let reading: ColumnReading
        let isDescending: Bool
    }

    private let terms: [Term]
    private let buffer = KeyBuffer()

    private enum Mark {
        /// Before all kinds of values.
        static let null: UInt8 = 0
        static let end: UInt8 = 0
        /// Behind a zero that belongs to the value.
        static let inside: UInt8 = 0xFF
    }

    /// - Returns: Nil where SQLite's order can't be told without asking SQLite: the program brought a collation of its
    ///   own, or rows have no key.
    init?(_ order: [RowOrdering], _ table: TableShape, _ layout: RowLayout) throws {
        guard !table.key.isEmpty else { return nil }
        var terms: [Term] = []
        for ordering in order {
            _ = try table.column(named: ordering.column)
            guard let selected = table.place(of: ordering.column) else { return nil }
            let laid = try layout.place(named: ordering.column)
            guard let collation = ordering.collation ?? layout.columns[laid].collation else { return nil }
            terms.append(
                Term(
                    selected: selected, laid: laid,
                    reading: ColumnReading(place: laid, conversion: .none, collation: collation),
                    isDescending: ordering.order == .descending))
        }
        self.terms = terms
    }

    /// The names of the columns that decide.
    func columns(_ layout: RowLayout) -> [String] { terms.map { layout.columns[$0.laid].name } }

    // MARK: Keys

    /// The key of a statement's current row.
    func key(of statement: OpaquePointer) -> [UInt8] {
        let memory = ValueMemory()
        return withExtendedLifetime(memory) {
            key { memory.keep(statement, Int32($0.selected)) } ?? []
        }
    }

    /// The key of a changed row; nil where a value isn't known.
    func key(of change: ChangedRow, _ image: RowKeys.Image) -> [UInt8]? { key { change.value($0.laid, image) } }

    private func key(_ value: (Term) -> storage_value?) -> [UInt8]? {
        var key: [UInt8] = []
        key.reserveCapacity(terms.count * 16)
        for term in terms {
            guard let value = value(term) else { return nil }
            let start = key.count
            buffer.removeAll()
            if ComparisonKey.append(value, term.reading, to: buffer) {
                for byte in buffer.bytes(from: 0) {
                    key.append(byte)
                    if byte == 0 { key.append(Mark.inside) }
                }
                key.append(Mark.end)
                key.append(Mark.end)
            } else {
                key.append(Mark.null)
            }
            if term.isDescending { for index in start..<key.count { key[index] = ~key[index] } }
        }
        return key
    }

    static func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { ComparisonKey.order(left, $0) } } < 0
    }

    // MARK: Values

    /// Values that stand in the order where the row of a key stands. They needn't be the row's own: `1` and `1.0`, or
    /// two texts that a collation takes for one, stand in the same place.
    func values(of key: [UInt8]) -> [StorageValue] {
        var values: [StorageValue] = []
        var place = 0
        for term in terms {
            let mask: UInt8 = term.isDescending ? 0xFF : 0
            var bytes: [UInt8] = []
            if key[place] ^ mask == Mark.null {
                place += 1
                values.append(.null)
                continue
            }
            while true {
                let byte = key[place] ^ mask
                place += 1
                if byte == 0 {
                    let next = key[place] ^ mask
                    place += 1
                    if next == Mark.end { break }
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
