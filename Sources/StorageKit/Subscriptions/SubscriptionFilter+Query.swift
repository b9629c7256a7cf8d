internal import StorageEntities
public import StorageViews

extension SubscriptionFilter {
    /// Changes that matter to what a query finds: of rows that come into its result, go out of it, or stay in it with
    /// other values.
    ///
    /// ```swift
    /// let open = storage.query(Order.self).where { $0.status == "open" }
    /// let events = try await storage.changeNotifier.events(for: Order.self, filter: .queryRelevant(open))
    /// ```
    ///
    /// A limit and an offset are ignored: rows outside the window are reported too. Only the database can evaluate SQL
    /// of your own, so such a condition counts as true.
    ///
    /// - Parameter fields: The columns that matter of rows that stay, besides those that the query sorts by; all columns
    ///   where nil.
    public static func queryRelevant<Entity: RegisteredEntity>(
        _ query: Query<Entity>, fields: [String]? = nil
    ) -> SubscriptionFilter {
        let rows = query.request.rows
        let columns = fields.map { $0 + rows.orderings.map(\.column) }
        return relevant(
            to: rows.predicate, of: EntityTableCache.of(Entity.Record.self).queryTable.name, columns: columns)
    }
}
