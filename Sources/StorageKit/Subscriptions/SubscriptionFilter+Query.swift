internal import StorageEntities
public import StorageViews

extension SubscriptionFilter {
    /// Matches changes that affect a query's result: of rows that enter it, that leave it, or that stay in it with other
    /// values.
    ///
    /// ```swift
    /// let open = storage.query(Order.self).where { $0.status == "open" }
    /// let events = try await storage.changeNotifier.events(for: Order.self, filter: .queryRelevant(open))
    /// ```
    ///
    /// A limit and an offset are ignored: rows outside the window are reported too. A condition in SQL of your own counts as
    /// true, because only the database can evaluate it.
    ///
    /// - Parameter fields: The columns that matter for rows that stay, in addition to those that the query sorts by; all columns if nil.
    public static func queryRelevant<Entity: RegisteredEntity>(
        _ query: Query<Entity>, fields: [String]? = nil
    ) -> SubscriptionFilter {
        let rows = query.request.rows
        let columns = fields.map { $0 + rows.orderings.map(\.column) }
        // For a query that can't run, every change counts.
        return relevant(
            to: rows.invalid == nil ? rows.predicate : nil, of: EntityTableCache.of(Entity.Record.self).queryTable.name,
            columns: columns)
    }
}
