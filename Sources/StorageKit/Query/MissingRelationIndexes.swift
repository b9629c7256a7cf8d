internal import GRDB
internal import StorageCore
internal import StorageEntities
internal import StorageLog

/// Finds the columns by which a query looks for related rows, and that no index helps with.
struct MissingRelationIndexes {
    private let db: GRDB.Database

    init(_ db: GRDB.Database) { self.db = db }

    func warnings<E: RegisteredEntity>(of request: QueryRequest<E>) throws -> [String] {
        var seen: Set<Relation> = []
        return try relations(of: request).filter { try seen.insert($0).inserted && !isIndexed($0) }.map { relation in
            let (table, column) = (relation.table, relation.otherColumn)
            return """
                "\(table.name)" has no index that begins with "\(column)": all its rows are read to find the related ones. \
                Create one in a migration: CREATE INDEX \(quoted("\(table.stored)_\(column)")) ON \
                \(quoted(table.stored))(\(try table.column(named: column))).
                """
        }
    }

    private func relations<E: RegisteredEntity>(of request: QueryRequest<E>) -> [Relation] {
        request.rows.relations.flatMap(relations) + request.inclusions.flatMap { relations(of: $0) }
    }

    private func relations(_ condition: RelatedCondition) -> [Relation] {
        [condition.relation] + condition.relations.flatMap(relations)
    }

    private func relations(of inclusion: some Inclusion) -> [Relation] {
        [inclusion.relation] + relations(of: inclusion.request)
    }

    private func isIndexed(_ relation: Relation) throws -> Bool {
        let table = relation.table
        guard let index = table.columnIndex(of: relation.otherColumn) else { return false }
        if table.key.first == index { return true }
        let stored = table.columns[index].stored
        return try String.fetchOne(
            db,
            sql: """
                SELECT info.name FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info \
                WHERE info.seqno = 0 AND info.name = ? AND list.partial = 0
                """, arguments: [table.stored, stored]) != nil
    }
}
