public import StorageCore
public import StorageLog
internal import StorageRouting

/// Which changes of a table a ``SmartChangeNotifier`` reports.
///
/// ```swift
/// let ofTwo = try await storage.changeNotifier.events(for: User.self, filter: .rowIds(["1", "2"]))
/// let ofNames = try await storage.changeNotifier.events(for: User.self, filter: .affectsFields(["name"]))
/// ```
///
/// All filters but ``custom(_:)`` are indexed: a filter costs nothing for changes that don't affect it, however many
/// there are. ``ChangeEvent/bulkChange(tableName:affectedCount:position:)`` and
/// ``ChangeEvent/schemaChange(tableName:position:)`` pass every filter, because they may represent a change that does.
public struct SubscriptionFilter: Sendable {
    enum Kind: Sendable {
        case all
        case rowIds([StorageValue])
        case affectsFields([String])
        case query(entity: String, RowPredicate, columns: [String]?)
        case custom(@Sendable (ChangeEvent) -> Bool)
    }

    let kind: Kind

    /// Every change.
    public static let all = SubscriptionFilter(kind: .all)

    /// Changes of the rows with these primary keys.
    public static func rowIds(_ ids: [StorageValue]) -> SubscriptionFilter { SubscriptionFilter(kind: .rowIds(ids)) }

    /// Changes of the rows with these primary keys.
    public static func rowIds<Id: StorageColumnValue>(_ ids: [Id]) -> SubscriptionFilter {
        rowIds(ids.map { _RowKey.value(of: $0) })
    }

    /// Changes of the rows with these primary keys.
    public static func rowIds<Id: RawRepresentable>(_ ids: [Id]) -> SubscriptionFilter
    where Id.RawValue: StorageColumnValue {
        rowIds(ids.map { _RowKey.value(of: $0) })
    }

    /// Changes of the rows with these primary keys.
    public static func rowIds<Id: RawRepresentable & StorageColumnValue>(_ ids: [Id]) -> SubscriptionFilter
    where Id.RawValue: StorageColumnValue {
        rowIds(ids.map { _RowKey.value(of: $0) })
    }

    /// Updates that change at least one of these columns, and every insert and delete.
    public static func affectsFields(_ fields: [String]) -> SubscriptionFilter {
        SubscriptionFilter(kind: .affectsFields(fields))
    }

    /// Changes that make a row meet a condition or stop meeting it, and updates of rows that meet it if they change one
    /// of the columns.
    ///
    /// - Parameter columns: Nil for all of them.
    package static func relevant(
        to predicate: RowPredicate?, of entity: String, columns: [String]?
    ) -> SubscriptionFilter {
        SubscriptionFilter(kind: .query(entity: entity, predicate ?? .constant(true), columns: columns))
    }

    /// Changes for which a closure returns true. It is called for every row change of the table, and must be fast: live
    /// views wait for it.
    public static func custom(_ accepts: @escaping @Sendable (ChangeEvent) -> Bool) -> SubscriptionFilter {
        SubscriptionFilter(kind: .custom(accepts))
    }
}

extension SubscriptionFilter {
    func accepts(_ event: ChangeEvent) -> Bool {
        if case .custom(let accepts) = kind { accepts(event) } else { true }
    }

    /// Which changes may pass.
    ///
    /// - Throws: `invalid-name` for a column that isn't there, `invalid-argument` for a query of another entity.
    func interest(in layout: RowLayout) throws -> Interest {
        switch kind {
        case .all, .custom: return Interest(entity: layout.name, predicate: nil)
        case .rowIds(let ids):
            let keys = layout.keyIndices.map { layout.columns[$0].name }
            return Interest(entity: layout.name, predicate: .among(column: keys.first ?? "", ids))
        case .affectsFields(let fields):
            _ = try layout.mask(of: fields)
            return Interest(entity: layout.name, predicate: nil, columns: fields)
        case .query(let entity, let predicate, let columns):
            guard entity == layout.name else {
                throw StorageError(
                    .invalidArgument, "A query of \"\(entity)\" says nothing about changes of \"\(layout.name)\".",
                    remedy: "Ask for the events of \"\(entity)\".")
            }
            return try Self.interest(in: predicate, columns, layout)
        }
    }

    private static func interest(
        in predicate: RowPredicate, _ columns: [String]?, _ layout: RowLayout
    ) throws -> Interest {
        if let columns { _ = try layout.mask(of: columns) }
        let compiler = ConditionCompiler(layout: layout, row: RowKeys(layout))
        guard try compiler.compile(predicate).isOpaque else {
            return Interest(entity: layout.name, predicate: predicate, columns: columns)
        }
        // Conditions that only the database can evaluate count as true, and may depend on any column.
        let weaker = predicate.weakened(negated: false)
        let isOpaque = try compiler.compile(weaker).isOpaque
        return Interest(entity: layout.name, predicate: isOpaque ? nil : weaker)
    }
}

extension RowPredicate {
    /// A condition without SQL that is true wherever this one is; where it is negated, one that is false wherever this
    /// one is.
    fileprivate func weakened(negated: Bool) -> RowPredicate {
        switch self {
        case .sql: .constant(!negated)
        case .not(let part): .not(part.weakened(negated: !negated))
        case .all(let parts): .all(parts.map { $0.weakened(negated: negated) })
        case .any(let parts): .any(parts.map { $0.weakened(negated: negated) })
        default: self
        }
    }
}
