internal import CSQLite
internal import Foundation
internal import StorageCore

/// The lineage of a store's history: its own since the store was created, or that of another store up to the position at which it
/// was copied.
///
/// A copy that is made to be written to begins a lineage of its own after the last position that it shares with the original. A
/// position is the same event in two stores if both have it in the same lineage. A copy made without StorageKit can't know that
/// it is a copy.
package struct StoreLineage: Sendable, Equatable {
    /// A history by itself.
    package struct Line: Sendable, Equatable {
        /// 16 random bytes.
        package let id: [UInt8]
        /// The last position that belongs to the previous line; 0 in the first.
        package let fork: Int64
    }

    /// The oldest first; at least one.
    package let lines: [Line]

    static let idBytes = 16

    /// The id that the store shares with all of its copies.
    package var store: [UInt8] { lines[0].id }

    /// The line that the event at a position belongs to.
    package func line(of position: Int64) -> Line { lines.last { $0.fork < position } ?? lines[0] }
}

extension StoreLineage {
    /// - Throws: `corrupt` if there is no lineage, or if its numbers are invalid.
    package static func load(_ database: Connection) throws -> StoreLineage {
        let select = try PreparedStatement(database, "SELECT number, id, fork FROM storage_lineage ORDER BY number")
        var lines: [Line] = []
        while try select.step() {
            let line = Line(id: Array(select.bytes(1)), fork: select.integer(2))
            guard select.integer(0) == lines.count + 1, line.id.count == idBytes,
                lines.last.map({ $0.fork <= line.fork }) ?? (line.fork == 0), line.fork <= Limits.numbers.upperBound
            else { throw StorageError.corruptLog("its lineage makes no sense") }
            lines.append(line)
        }
        guard !lines.isEmpty else { throw StorageError.corruptLog("it has no id") }
        return StoreLineage(lines: lines)
    }

    /// Begins a line after a position: the first of a store, or another one of a copy. Deletes lines that began later.
    package static func begin(after position: Int64, in database: Connection) throws {
        try PreparedStatement(database, "DELETE FROM storage_lineage WHERE fork > ?").run(position)
        let insert = try PreparedStatement(
            database, "INSERT INTO storage_lineage SELECT coalesce(max(number), 0) + 1, ?1, ?2 FROM storage_lineage")
        var generator = SystemRandomNumberGenerator()
        insert.bind(blob: (0..<idBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }, at: 1)
        insert.bind(position, at: 2)
        try insert.execute()
    }
}
