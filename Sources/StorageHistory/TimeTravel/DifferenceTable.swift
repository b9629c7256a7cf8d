internal import StorageCore
package import StorageLog

/// A table of a difference: an entity in the first and in the second state.
package struct DifferenceTable: Sendable {
    /// A column outside the key in both states; nil if a state doesn't have it.
    package struct Column: Sendable {
        package let from: CatalogColumn?
        package let to: CatalogColumn?
        /// The name in the second state, or in the first one if the second doesn't have the column.
        package let name: String

        package var isSame: Bool { from?.id == to?.id }
    }

    /// The entity in the two states; nil if a state doesn't have it.
    package let from: CatalogEntity?
    package let to: CatalogEntity?
    package let key: [CatalogColumn]
    package let columns: [Column]

    package var name: String { (to ?? from)?.name ?? "" }

    init?(from: CatalogEntity?, to: CatalogEntity?, matchesNames: Bool) {
        guard let present = to ?? from else { return nil }
        self.from = from
        self.to = to
        key = present.key
        columns = Self.columns(from: from, to: to, matchesNames: matchesNames)
    }

    /// The columns of the second state in their order, then those that it doesn't have.
    private static func columns(from: CatalogEntity?, to: CatalogEntity?, matchesNames: Bool) -> [Column] {
        let earlier = (from?.live ?? []).filter { $0.keyOrdinal == 0 }
        let later = (to?.live ?? []).filter { $0.keyOrdinal == 0 }
        var taken: Set<UInt32> = []
        var columns = later.map { column -> Column in
            // A column that was dropped and created again, perhaps with another type, is matched by its name.
            let match =
                earlier.first { $0.id == column.id }
                ?? earlier.first { old in
                    matchesNames && ExactText(old.name) == ExactText(column.name) && !later.contains { $0.id == old.id }
                }
            if let match { taken.insert(match.id) }
            return Column(from: match, to: column, name: column.name)
        }
        var names = UniqueNames(besides: columns.map(\.name))
        for gone in earlier where !taken.contains(gone.id) {
            columns.append(Column(from: gone, to: nil, name: names.name(ofGone: gone.name)))
        }
        return columns
    }

    /// The tables of two states.
    ///
    /// - Parameter matchesNames: Whether a table or column that was dropped and created again is matched by its name.
    static func all(from: Catalog, to: Catalog, matchesNames: Bool) -> [DifferenceTable] {
        var taken: Set<UInt32> = []
        var tables = to.live.compactMap { entity -> DifferenceTable? in
            let match =
                from.live.first { $0.id == entity.id }
                ?? from.live.first { old in
                    matchesNames && ExactText(old.name) == ExactText(entity.name)
                        && !to.live.contains { $0.id == old.id }
                        && old.key.count == entity.key.count
                }
            if let match { taken.insert(match.id) }
            return DifferenceTable(from: match, to: entity, matchesNames: matchesNames)
        }
        tables += from.live.filter { !taken.contains($0.id) }.compactMap {
            DifferenceTable(from: $0, to: nil, matchesNames: matchesNames)
        }
        return tables.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

extension DifferenceTable {
    /// Whether the table's schema differs, rather than its rows.
    package var hasOtherSchema: Bool {
        guard let from, let to, from.id == to.id else { return true }
        return ExactText(from.name) != ExactText(to.name)
            || columns.contains { column in
                !column.isSame || column.from.map { ExactText($0.name) } != column.to.map { ExactText($0.name) }
            }
            || zip(from.key, to.key).contains { ExactText($0.name) != ExactText($1.name) }
    }
}
