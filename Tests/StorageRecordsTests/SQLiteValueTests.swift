import CSQLite
import Foundation
import StorageCore
import StorageRecords
import Testing

/// The one way from SQLite's storage classes to values and back.
struct SQLiteValueTests {
    private static let values: [StorageValue] = [
        .null, .integer(0), .integer(.min), .integer(.max), .real(0), .real(-0.0), .real(.infinity), .real(1.5),
        .text(""), .text("a"), .text("é\u{0}ß"), .blob(Data()), .blob(Data([0])), .blob(Data([0xFF, 0, 1])),
    ]

    private func open() throws -> Connection {
        try Connection(
            opening: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, orFailWith: "no memory")
    }

    /// Calls `body` with a value whose bytes are somewhere behind a base, as those of events are.
    private func withRaw(_ value: StorageValue, _ body: (storage_value, UnsafePointer<UInt8>) throws -> Void) rethrows {
        let offset = 5
        let content: [UInt8] =
            switch value {
            case .text(let text): Array(text.utf8)
            case .blob(let bytes): Array(bytes)
            default: []
            }
        try ([UInt8](repeating: 0x55, count: offset) + content).withUnsafeBufferPointer { bytes in
            let raw =
                switch value {
                case .null: storage_value.null
                case .integer(let value): storage_value(integer: value)
                case .real(let value): storage_value(real: value)
                case .text:
                    storage_value(type: UInt32(SQLITE_TEXT), size: UInt32(content.count), bits: UInt64(offset))
                case .blob:
                    storage_value(type: UInt32(SQLITE_BLOB), size: UInt32(content.count), bits: UInt64(offset))
                }
            try body(raw, bytes.baseAddress!)
        }
    }

    @Test("A value comes back as it was bound, byte for byte", arguments: values)
    func comesBackAsItWasBound(_ value: StorageValue) throws {
        let connection = try open()
        defer { connection.close() }
        let select = try PreparedStatement(connection, "SELECT ?")
        try withRaw(value) { raw, base in
            raw.bind(to: select.writer, at: 1, from: base)
            let isRow = try select.step()
            #expect(isRow)
            let held = storage_value(borrowing: select.row, column: 0)
            #expect(raw.isSame(as: held, from: base))
            #expect(select.holds(raw, bytes: base, in: 0))
            #expect(held.value() == value)
            #expect(select.row.value(at: 0) == value)
            #expect(raw.value(from: base) == value)
            select.reset()
        }
    }

    @Test("Values are the same only to the byte and in their storage class")
    func sameOnlyToTheByte() {
        for (index, one) in Self.values.enumerated() {
            for (otherIndex, other) in Self.values.enumerated() {
                withRaw(one) { raw, base in
                    withRaw(other) { otherRaw, otherBase in
                        let isSame = raw.isSame(as: otherRaw, from: base, otherFrom: otherBase)
                        #expect(isSame == (index == otherIndex), "\(one) and \(other)")
                    }
                }
            }
        }
    }

    @Test("A hook's value is read as a column's is", arguments: values)
    func hooksValue(_ value: StorageValue) throws {
        let connection = try open()
        defer { connection.close() }
        var seen: [StorageValue] = []
        try withUnsafeMutablePointer(to: &seen) { seen in
            let code = sqlite3_create_function_v2(
                connection.handle, "look", 1, SQLITE_UTF8, seen,
                { context, _, arguments in
                    let seen = sqlite3_user_data(context)?.assumingMemoryBound(to: [StorageValue].self)
                    guard let argument = arguments?[0] else { return }
                    seen?.pointee.append(storage_value(borrowing: argument).value())
                }, nil, nil, nil)
            #expect(code == SQLITE_OK)
            let select = try PreparedStatement(connection, "SELECT look(?)")
            try select.writer.bind(value, at: 1)
            try select.execute()
        }
        #expect(seen == [value])
    }

    @Test("A value comes back from its raw form")
    func rawForm() {
        for value in Self.values { #expect(value.withRaw { $0.value() } == value) }
    }

    @Test("Values are in SQLite's order")
    func orderOfValues() throws {
        let database = try open()
        defer { database.close() }
        let compare = try PreparedStatement(
            database,
            """
            SELECT CASE WHEN ?1 IS ?2 THEN 0 WHEN ?1 IS NULL THEN -1 WHEN ?2 IS NULL THEN 1 WHEN ?1 < ?2 THEN -1
              WHEN ?1 > ?2 THEN 1 ELSE 0 END
            """)
        for one in Self.values {
            for other in Self.values {
                try compare.bind([one, other])
                defer { compare.reset() }
                #expect(try compare.step())
                let order = one.withRaw { one in other.withRaw { one.order(to: $0).signum() } }
                #expect(order == Int(compare.integer(0)), "\(one) and \(other)")
            }
        }
    }
}
