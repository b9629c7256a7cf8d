import Foundation
import StorageKit

/// Checks the foreign keys of changed tables at the end of each commit of an import: within a commit, operations may be in any order.
///
/// SQLite's own checks are off during such an import, because they would also enable foreign key actions, which delete and change rows that the
/// history deletes and changes with separate operations.
///
/// - Complexity: a lookup for each foreign key of a row that is written, and one for each that refers to a row that is deleted; the latter reads the
///   whole referring table if it has no index on the referring columns.
///
/// Not `Sendable`: it is used on the writer's queue for the length of an import.
final class ReferenceCheck {
    /// A row whose references must be valid at the end of the commit.
    private struct Suspect {
        let reference: StoredForeignKey
        /// The key of the referring row, or the values that a row was referred to by.
        let values: [ExactValue]
        let isReferring: Bool
        let line: Int
        let id: String
    }

    private let writer: LogWriter
    private var all: [StoredForeignKey]?
    private var byTable: [UInt32: (outgoing: [StoredForeignKey], incoming: [StoredForeignKey])] = [:]
    private var suspects: [Suspect] = []

    init(_ writer: LogWriter) { self.writer = writer }

    func beginCommit() { suspects.removeAll(keepingCapacity: true) }

    /// Call it after a rollback, because the schema may have changed.
    func forget() {
        all = nil
        byTable = [:]
    }

    /// Call it before a row is updated or deleted.
    func rowWillChange(_ entity: CatalogEntity, _ key: [ExactValue], _ operation: HistoryOperation) throws {
        for reference in try references(of: entity).incoming {
            // An update doesn't change the key.
            if operation.kind == .update, reference.isToKey(of: entity) { continue }
            let names = reference.parentColumns.map(quoted).joined(separator: ", ")
            let select = try writer.statement(
                "SELECT \(names) FROM \(quoted(entity.stored)) WHERE \(RowLookup.condition(of: entity))")
            for (index, value) in key.enumerated() { value.bind(to: select, at: Int32(index + 1)) }
            defer { select.reset() }
            guard try select.step() else { continue }
            let values = reference.parentColumns.indices.map { ExactValue(select, column: Int32($0)) }
            guard !values.contains(.null) else { continue }
            note(reference, values, isReferring: false, operation)
        }
    }

    /// Call it after a row was inserted or updated.
    func rowWasWritten(_ entity: CatalogEntity, _ key: [ExactValue], _ operation: HistoryOperation) throws {
        for reference in try references(of: entity).outgoing where try leadsNowhere(reference, from: key, of: entity) {
            note(reference, key, isReferring: true, operation)
        }
    }

    private func note(
        _ reference: StoredForeignKey, _ values: [ExactValue], isReferring: Bool, _ operation: HistoryOperation
    ) {
        suspects.append(
            Suspect(
                reference: reference, values: values, isReferring: isReferring, line: operation.line?.number ?? 0,
                id: operation.id.string))
    }

    /// - Throws: `CommandError` with the line of the first row with a dangling reference.
    func endCommit() throws {
        for suspect in suspects {
            let reference = suspect.reference
            if suspect.isReferring {
                guard let entity = writer.catalog.entity(stored: reference.child),
                    try leadsNowhere(reference, from: suspect.values, of: entity)
                else { continue }
                throw refusal(
                    suspect,
                    "the row \(suspect.id) of \"\(reference.child)\" refers to a row of \"\(reference.parent)\" that isn't there",
                    "Put the row that it refers to into the same commit, or an earlier one.")
            }
            guard try isReferredTo(suspect.values, by: reference) else { continue }
            throw refusal(
                suspect,
                "rows of \"\(reference.child)\" still refer to the row \(suspect.id) of \"\(reference.parent)\"",
                "Delete or change them in the same commit: an import does nothing by itself for ON DELETE.")
        }
    }

    private func refusal(_ suspect: Suspect, _ problem: String, _ remedy: String) -> CommandError {
        CommandError(InputError(offset: 0, problem: problem, remedy: remedy), line: suspect.line)
    }
}

// MARK: Rows

extension ReferenceCheck {
    private func leadsNowhere(
        _ reference: StoredForeignKey, from key: [ExactValue], of entity: CatalogEntity
    ) throws -> Bool {
        let select = try writer.statement(
            "SELECT 1 FROM \(quoted(entity.stored)) AS c WHERE \(RowLookup.condition(of: entity)) AND \(reference.isDangling)"
        )
        return try isFound(select, key)
    }

    private func isReferredTo(_ values: [ExactValue], by reference: StoredForeignKey) throws -> Bool {
        let narrow = reference.childColumns.enumerated().map { "c.\(quoted($0.element)) = ?\($0.offset + 1)" }
        let conditions = (reference.isNarrow ? narrow : []) + [reference.isDangling]
        let select = try writer.statement(
            "SELECT 1 FROM \(quoted(reference.child)) AS c WHERE \(conditions.joined(separator: " AND ")) LIMIT 1")
        return try isFound(select, reference.isNarrow ? values : [])
    }

    private func isFound(_ select: PreparedStatement, _ values: [ExactValue]) throws -> Bool {
        for (index, value) in values.enumerated() { value.bind(to: select, at: Int32(index + 1)) }
        defer { select.reset() }
        return try select.step()
    }
}

// MARK: Foreign keys

extension ReferenceCheck {
    private func references(of entity: CatalogEntity) throws -> (
        outgoing: [StoredForeignKey], incoming: [StoredForeignKey]
    ) {
        if let known = byTable[entity.id] { return known }
        let all = try all ?? StoredForeignKey.all(writer)
        self.all = all
        let table = entity.stored.folded
        let found = (all.filter { $0.child.folded == table }, all.filter { $0.parent.folded == table })
        byTable[entity.id] = found
        return found
    }
}
