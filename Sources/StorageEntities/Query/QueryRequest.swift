internal import StorageCore

/// What a query reads, independent of a store: it is built call by call, and reads nothing itself.
///
/// ```swift
/// let request = Task.all().filter(Task.Columns.isCompleted == true).order(by: .createdAt).limit(10)
/// var query = storage.query(Task.self)
/// query.request = request
/// let tasks = try await query.fetch()
/// ```
public struct QueryRequest<E: RegisteredEntity>: EntityQuery, Sendable {
    package var rows: RowRequest
    /// The related rows that are included.
    package private(set) var inclusions: [any Inclusion<E>] = []

    /// The scope that restricts the query; nil for none.
    package var scope: StorageScope?

    package init(_ rows: RowRequest = RowRequest()) { self.rows = rows }

    /// The same query with other inclusions.
    package func mapInclusions(_ change: (any Inclusion<E>) -> any Inclusion<E>) -> QueryRequest {
        var request = self
        request.inclusions = inclusions.map(change)
        return request
    }

    /// Notes what is wrong with the query: it is put together without `try`, and the call that runs it throws.
    mutating func check(_ body: (inout RowRequest) throws(StorageError) -> Void) {
        do throws(StorageError) { try body(&rows) } catch { rows.invalid = rows.invalid ?? error }
    }

    /// Includes related rows, none outside of the query's scope, whatever request they are found by.
    package mutating func include(_ inclusion: some Inclusion<E>) {
        guard let scope else { return append(inclusion) }
        append(inclusion.scoped(by: scope))
    }

    private mutating func append(_ inclusion: some Inclusion<E>) {
        rows.invalid = rows.invalid ?? inclusion.request.rows.invalid
        inclusions.append(inclusion)
    }

    /// The rows, for something that can't show included ones.
    package var withoutInclusions: RowRequest {
        var rows = rows
        if !inclusions.isEmpty, rows.invalid == nil {
            rows.invalid = StorageError(
                .invalidArgument, "Groups and search results can't include related rows.",
                remedy: "Leave `include` out of the query, or follow it as a list.")
        }
        return rows
    }

    /// The tables of related rows that are aggregated.
    package var aggregatedTables: [String] = []

    /// The tables that an answer is read from.
    package var tables: [String] {
        [EntityTableCache.of(E.Record.self).name] + rows.relations.flatMap(\.tables) + inclusions.flatMap { $0.tables }
            + aggregatedTables
    }

    /// The table that an answer is read from, if it certainly is the only one: SQL may read others.
    package var onlyTable: String? {
        let tables = tables
        return tables.count == 1 && rows.predicate?.isEvaluable ?? true ? tables[0] : nil
    }

    /// The request itself.
    public var request: QueryRequest<E> {
        get { self }
        set { self = newValue }
    }
}
