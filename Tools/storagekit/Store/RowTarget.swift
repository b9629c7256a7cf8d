import CSQLite
import Foundation
import StorageKit

/// A row that was named on the command line and exists, or has existed.
struct RowTarget {
    let entity: CatalogEntity
    let key: [StorageValue]
    /// The named column; nil for all.
    let column: String?

    /// The same row as events name it.
    var address: RowAddress { RowAddress(entity: entity.id, values: key) }

    /// Returns the row as it is shown, which may differ from the typed form: in a single-column key a comma needs no escape.
    func target(in table: String) -> TargetArgument {
        TargetArgument(table: table, id: KeyText.text(of: key, in: entity), column: column)
    }
}

extension HistoryReader {
    /// Finds the row that a target names. The key may be written as it is, or with codes; see `TargetArgument`.
    ///
    /// - Throws: `notFound` with similar tables, rows or columns; `usage` if both ways of reading the key name a row.
    func row(_ target: TargetArgument) throws -> RowTarget {
        let names = EntityNames(self)
        let entities = try names.entities(named: target.table)
        guard let id = target.id else {
            throw CommandError(
                .usage, "\"\(target)\" names a table, not a row.", next: "Write \(target)/ID, such as \(target)/42.")
        }
        do {
            if let column = target.column { try names.check(column: column, of: entities) }
            guard let row = try row(target, in: entities) else { throw try missing(target, id: id, in: entities[0]) }
            return row
        } catch let error as CommandError where error.status == .notFound {
            guard let whole = target.whole, let row = try row(whole, in: entities) else { throw error }
            return row
        }
    }

    private func row(_ target: TargetArgument, in entities: [CatalogEntity]) throws -> RowTarget? {
        guard let id = target.id else { return nil }
        let decoded = try row(withKey: id, of: target, in: entities)
        guard let written = target.writtenID, !written.utf8.elementsEqual(id.utf8),
            let literal = try row(withKey: written, of: target, in: entities)
        else { return decoded }
        guard let decoded, decoded.address != literal.address else { return literal }
        // A name as commands print it always means its row.
        if decoded.target(in: target.table).shownID == written { return decoded }
        let names = [literal, decoded].map { $0.target(in: target.table).description.quotedAsShellWord }
        throw CommandError(
            .usage, "\(target.table)/\(written) may be either of two rows.",
            why: "Their keys are \(written) and \(id).",
            next: "Write \(names[0]) for the first, \(names[1]) for the second.")
    }

    private func row(
        withKey id: String, of target: TargetArgument, in entities: [CatalogEntity]
    ) throws -> RowTarget? {
        for entity in entities {
            for keys in try Self.keys(id, of: entity) {
                // A row that exists before one that was deleted.
                let key =
                    try keys.first { try log.livePosition(of: $0, in: entity) != nil }
                    ?? keys.first { try log.lastPosition(of: $0, in: entity) != nil }
                if let key { return RowTarget(entity: entity, key: key, column: target.column) }
            }
        }
        return nil
    }

    /// Returns the keys that a text can mean, depending on the types of the key's columns: those that are shown as it, and those that
    /// aren't, each likeliest first.
    private static func keys(_ id: String, of entity: CatalogEntity) throws(CommandError) -> [[[StorageValue]]] {
        let columns = entity.key
        guard columns.count != 1 else {
            // The unescaped form first: in a single-part key a comma needs no escape.
            let decoded = KeyText.decoded(id)
            let values =
                KeyText.values(id, of: columns[0])
                + (decoded.utf8.elementsEqual(id.utf8) ? [] : KeyText.values(decoded, of: columns[0]))
            return shownFirst(values.map { [$0] }, as: [id], columns)
        }
        let parts = KeyText.parts(of: id)
        guard parts.count == columns.count else {
            throw CommandError(
                .usage, "The key of \"\(entity.name)\" has \(columns.count) parts, not \(parts.count).",
                why: "Its columns are \(columns.map(\.name).joined(separator: ", ")).",
                next: "Separate the parts by commas, such as \(entity.name)/a,b; a comma inside of one is %2C.")
        }
        var keys: [[StorageValue]] = [[]]
        for (part, column) in zip(parts, columns) {
            keys = keys.flatMap { key in KeyText.values(part, of: column).map { key + [$0] } }
        }
        return shownFirst(keys, as: parts, columns)
    }

    /// Returns the keys that are shown as they were typed before those that other spellings of a number or of bytes mean: `01`
    /// is the text where there is one, and otherwise the number 1.
    private static func shownFirst(
        _ keys: [[StorageValue]], as parts: [String], _ columns: [CatalogColumn]
    ) -> [[[StorageValue]]] {
        func isShown(_ key: [StorageValue]) -> Bool {
            key.indices.allSatisfy { index in
                ValueText.id(key[index], coding: columns[index].coding).utf8.elementsEqual(parts[index].utf8)
            }
        }
        return [keys.filter(isShown), keys.filter { !isShown($0) }]
    }

    private func missing(_ target: TargetArgument, id: String, in entity: CatalogEntity) throws -> CommandError {
        if entity.isDropped {
            return CommandError(
                .notFound, "The table \"\(entity.name)\" was dropped with its rows, and no longer has \(id).",
                why: "Its rows can be looked up by their keys only if they were deleted before.",
                next: "Type: storagekit log \([TargetArgument(table: target.table).description].quotedAsOperands)")
        }
        func targets(_ ids: [String]) -> [String] {
            ids.map { TargetArgument(table: target.table, id: $0).description }
        }
        let likely = try targets(containing(id, in: entity))
        let similar = try likely.isEmpty ? targets(neighbours(of: id, in: entity)) : []
        return CommandError(
            .notFound, "There has never been a row \(TargetArgument(table: target.table, id: id)).",
            why: "No event of the log has this key in \"\(entity.name)\".",
            next: !likely.isEmpty
                ? "Did you mean \(likely.joined(separator: ", "))?"
                : similar.isEmpty
                    ? "Type: storagekit log \([TargetArgument(table: target.table).description].quotedAsOperands)"
                    : "Rows with keys next to it: \(similar.joined(separator: ", ")).")
    }

    /// Returns the first ids that contain the text, ignoring case.
    private func containing(_ id: String, in entity: CatalogEntity) throws -> [String] {
        guard !entity.isDropped, entity.key.count == 1, id.count >= 3 else { return [] }
        let column = quoted(entity.key[0].stored)
        let select = try PreparedStatement(
            connection,
            """
            SELECT \(column) FROM \(quoted(entity.stored))
            WHERE typeof(\(column)) = 'text' AND instr(lower(\(column)), lower(?1)) > 0 ORDER BY 1 LIMIT 3
            """)
        select.bind(text: id, at: 1)
        var ids: [String] = []
        while try select.step() {
            ids.append(ValueText.id(select.row.value(at: 0), coding: entity.key[0].coding))
        }
        return ids
    }

    /// Returns the ids around one in the order of the table's key.
    private func neighbours(of id: String, in entity: CatalogEntity) throws -> [String] {
        guard !entity.isDropped, entity.key.count == 1,
            let value = try Self.keys(id, of: entity).joined().first?.first
        else {
            return []
        }
        let column = quoted(entity.key[0].stored)
        var found: [String] = []
        for (comparison, order) in [("<", "DESC"), (">", "ASC")] {
            let select = try PreparedStatement(
                connection,
                """
                SELECT \(column) FROM \(quoted(entity.stored)) WHERE \(column) \(comparison) ? ORDER BY 1 \(order) LIMIT 2
                """)
            try select.writer.bind(value, at: 1)
            var ids: [String] = []
            while try select.step() {
                ids.append(ValueText.id(select.row.value(at: 0), coding: entity.key[0].coding))
            }
            found = comparison == "<" ? ids.reversed() + found : found + ids
        }
        return found
    }
}
