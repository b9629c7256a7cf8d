import StorageKit

extension CommandError {
    /// The error for a query that names a current table that doesn't exist as of a point: it was created later, or had another name then.
    ///
    /// - Parameters:
    ///   - name: The table, as the query names it.
    ///   - then: The catalog as recorded at `position`.
    ///   - point: The point as it was written.
    ///   - store: The store of both catalogs.
    ///   - former: Returns what to type if the table had another name then, given that name.
    ///   - first: Returns what to type for the table's first state, given its commit and the table.
    /// - Returns: nil if there is no such current table either.
    init?(
        laterTable name: String, than position: Int64, recorded then: Catalog, at point: PointArgument,
        in store: HistoryReader,
        former: (String) -> String = { _ in "Name it so, or add --schema current." },
        first: (Int64, String) -> String = { "As it was first: storagekit at t:\($0) \([$1].quotedAsOperands)" }
    ) throws {
        guard let entity = store.catalog.live.first(where: { $0.stored.folded == name.folded }) else { return nil }
        if let renamed = then.entity(id: entity.id), !renamed.isDropped {
            self.init(
                .notFound, "There is no table \"\(name)\" at \(point).", why: "It is called \(renamed.stored) there.",
                next: former(renamed.stored))
            return
        }
        var creation: (commit: CommitInfo, table: String)?
        if position < store.head.position {
            let later = position + 1...store.head.position
            try SchemaHistory(store.log).forEachCommit(in: later, descending: false) { commit, changes in
                for case .tableAdded(let added) in changes where added.id == entity.id {
                    creation = (commit, added.stored)
                }
                return creation == nil
            }
        }
        guard let (commit, table) = creation else { return nil }
        let isFirst = commit.number == 1
        self.init(
            .notFound, "The table \"\(name)\" doesn't exist yet at \(point).",
            why: "Its history begins with \(isFirst ? "the first commit, " : "")t:\(commit.number), at "
                + "\(Timestamp.shown(commit.time)).",
            next: first(commit.number, table))
    }
}
