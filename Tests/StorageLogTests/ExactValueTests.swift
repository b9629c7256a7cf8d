import StorageCore
import Testing

@testable import StorageHistory
@testable import StorageLog

/// What an event holds stays what it is on every way out of it and back.
@Suite struct ExactValueTests {
    private static let values: [ExactValue] = [
        .null, .integer(0), .integer(-1), .integer(.min), .integer(.max), .real((0.0).bitPattern),
        .real((-0.0).bitPattern),
        .real((1.0).bitPattern), .real(Double.infinity.bitPattern), .real((-Double.infinity).bitPattern),
        .real(Double.leastNonzeroMagnitude.bitPattern), .text([]), .text(Array("it's\u{0}\n\u{7F} ї".utf8)),
        .text([0x61, 0xFF]),
        .blob([]), .blob([0, 0x27, 0xFF]),
    ]

    @Test("A value as SQL gives back the value", arguments: values)
    func valueAsSQL(value: ExactValue) throws {
        let scratch = try ScratchTables()
        let select = try PreparedStatement(scratch.database, "SELECT \(value.sql)")
        #expect(try select.step())
        #expect(ExactValue(select, column: 0) == value)
        let column = CatalogColumn(id: 1, name: "v", type: "", fallback: value.value)
        try PreparedStatement(scratch.database, "CREATE TABLE t(k, v\(column.defaultClause))").execute()
        try PreparedStatement(scratch.database, "INSERT INTO t(k) VALUES (1)").execute()
        let found = try PreparedStatement(scratch.database, "SELECT v FROM t")
        #expect(try found.step())
        #expect(ExactValue(found, column: 0) == ExactValue(value.value), "as a default")
    }

    @Test("A key comes back from its bytes, from whatever form it was written")
    func keysComeBack() {
        let key = Self.values
        let address = RowAddress(entity: 7, values: key)
        #expect(address.values == key)
        #expect(RowAddress(entity: 7, values: key.map(\.value)).values == key.map { ExactValue($0.value) })
        let cut = Array(address.key.dropLast())
        #expect(throws: StorageError.self) { try KeyCoding.decode(cut) }
    }

    @Test("A net change comes back from its bytes")
    func netChangesComeBack() throws {
        let cells = Self.values.enumerated().map { NetRow.Cell(column: UInt32($0 + 1), value: $1) }
        let row = RowAddress(entity: 7, values: [ExactValue.integer(1)])
        for change in [
            NetRow(whole: nil, to: cells, of: row), NetRow(whole: cells, to: nil, of: row),
            NetRow(untouched: cells, of: row),
        ] {
            #expect(try change.bytes.withUnsafeBytes { try NetRow(bytes: $0, key: row.key) } == change)
        }
    }

    @Test("A row before and after a change lead to each other")
    func rowsLeadToEachOther() {
        let row = RowAddress(entity: 7, values: [ExactValue.integer(1)])
        func cells(_ values: [UInt32: Int64]) -> [NetRow.Cell] {
            values.sorted { $0.key < $1.key }.map { NetRow.Cell(column: $0.key, value: .integer($0.value)) }
        }
        let (old, new) = (cells([1: 1, 2: 2, 5: 5]), cells([1: 1, 2: 20, 5: 50]))
        let change = NetRow(whole: cells([2: 2, 5: 5]), to: cells([2: 20, 5: 50]), of: row)
        #expect(change.before() == cells([2: 2, 5: 5]))
        let insert = NetRow(whole: nil, to: new, of: row)
        let delete = NetRow(whole: old, to: nil, of: row)
        #expect(insert.before(new) == nil)
        #expect(insert.after() == new)
        #expect(delete.before() == old)
        #expect(delete.after(old) == nil)
        let touched = NetRow(untouched: cells([2: 2, 5: 5]), of: row)
        #expect(touched.before(new) == cells([1: 1, 2: 2, 5: 5]))
        #expect(touched.after() == nil)
    }
}
