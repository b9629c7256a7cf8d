internal import StorageCore
internal import StorageLog

extension MaterializedSnapshot {
    /// A current column whose values were another column's at the snapshot's position.
    struct Conversion {
        let column: CatalogColumn
        /// The earlier column, under a unique name; nil if the whole chain of columns is newer.
        let old: CatalogColumn?
        /// The default of the chain's first column for older rows.
        let fallback: StorageValue
        /// The conversions from the earlier values to the current ones.
        let steps: [Upcast]
    }

    func conversions(of entity: CatalogEntity, past: CatalogEntity) throws -> [Conversion] {
        guard schema == .current else { return [] }
        var conversions: [Conversion] = []
        for column in entity.live where !past.live.contains(where: { $0.id == column.id }) {
            var steps: [Upcast] = []
            var ancestor = column
            while let origin = entity.origin(of: ancestor) {
                steps.insert(try upcasts.step(into: ancestor, of: entity), at: 0)
                ancestor = origin
                guard past.live.contains(where: { $0.id == origin.id }) else { continue }
                var old = origin
                old.isDropped = false
                old.stored = "storage_old_\(origin.id)"
                conversions.append(Conversion(column: column, old: old, fallback: old.fallback, steps: steps))
                steps = []
                break
            }
            guard !steps.isEmpty else { continue }
            conversions.append(Conversion(column: column, old: nil, fallback: ancestor.fallback, steps: steps))
        }
        return conversions
    }

    func convert(_ conversion: Conversion, of entity: CatalogEntity, in target: Connection) throws {
        let table = quoted(entity.stored)
        guard let old = conversion.old.map({ quoted($0.stored) }) else {
            let update = try PreparedStatement(
                target, "UPDATE OR ABORT \(table) SET \(quoted(conversion.column.stored)) = ?1")
            try update.writer.bind(conversion.steps.reduce(conversion.fallback) { try $1($0) }, at: 1)
            return try update.execute()
        }
        let rowid = try entity.rowid
        let select = try PreparedStatement(target, "SELECT \(rowid), \(old) FROM \(table)")
        let update = try PreparedStatement(
            target, "UPDATE OR ABORT \(table) SET \(quoted(conversion.column.stored)) = ?1 WHERE \(rowid) = ?2")
        while try select.step() {
            let value = try conversion.steps.reduce(select.row.value(at: 1)) { try $1($0) }
            try update.writer.bind(value, at: 1)
            update.bind(select.integer(0), at: 2)
            try update.execute()
        }
        select.reset()
        try PreparedStatement(target, "ALTER TABLE \(table) DROP COLUMN \(old)").execute()
    }
}
