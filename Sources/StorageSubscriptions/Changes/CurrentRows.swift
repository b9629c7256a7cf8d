internal import CSQLite
internal import Foundation
internal import StorageLog

/// Rows as their tables have them now, found by their keys.
///
/// Isolation: not `Sendable`; used on the thread of its connection, in one transaction or on the writer.
package final class CurrentRows {
    private let database: OpaquePointer
    private var statements: [UInt32: Statement] = [:]
    /// How many rows were read.
    package private(set) var reads = 0

    package init(_ database: OpaquePointer) { self.database = database }

    /// Reads a row that a change has left behind.
    ///
    /// - Returns: False where the row can't be read, or where a later event has changed it: a row bears the position of
    ///   its last event.
    func read(
        _ change: FoldedChange, _ image: UnsafePointer<storage_value>, _ layout: RowLayout,
        _ column: (OpaquePointer, Int) -> Void
    ) -> Bool {
        do {
            let select = try statement(layout)
            defer { select.reset() }
            reads += 1
            for (index, place) in layout.keyPlaces.enumerated() { bind(image[place], to: select, at: Int32(index + 1)) }
            guard try select.step(), select.integer(Int32(layout.columns.count)) == change.position else {
                return false
            }
            for place in layout.columns.indices { column(select.pointer, place) }
            return true
        } catch {
            // Whoever routes takes everything for concerned then, so nobody misses a change.
            return false
        }
    }

    private func statement(_ layout: RowLayout) throws -> Statement {
        if let known = statements[layout.entity] { return known }
        let names = (layout.columns.map(\.stored) + ["_position"]).map(quoted).joined(separator: ", ")
        let key = condition(binding: layout.keyPlaces.map { layout.columns[$0].stored })
        let select = try Statement(database, "SELECT \(names) FROM \(quoted(layout.table)) WHERE \(key)")
        statements[layout.entity] = select
        return select
    }

    private func bind(_ value: storage_value, to statement: Statement, at index: Int32) {
        switch Int32(value.type) {
        case SQLITE_TEXT: statement.bind(borrowedText: value.addressed, at: index)
        case SQLITE_BLOB: statement.bind(borrowedBlob: value.addressed, at: index)
        default: statement.bind(value, bytes: UnsafePointer(bitPattern: 1).unsafelyUnwrapped, at: index)
        }
    }
}
