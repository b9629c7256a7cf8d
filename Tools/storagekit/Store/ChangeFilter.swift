import StorageKit

/// The filter of changes for a command, with every name and point resolved.
struct ChangeFilter {
    /// The conditions that the log's reader evaluates itself.
    var query = LogQuery()
    /// Texts of which a commit's reason must contain one.
    var reasons: [String] = []
    /// Correlation ids of which a commit must have one; any if empty.
    var correlations: Set<String> = []
    /// A further condition on events; nil if there is none.
    var passes: ((EventBatch, Int, CommitInfo) throws -> Bool)?
    /// The named rows. Events of `tables` pass as well.
    var rows: [RowTarget] = []
    /// Names of the tables of which every row passes, if rows were named, too.
    var tables: Set<String> = []
    var logRange: LogRange
    /// Whether a range was given, so that it is worth printing.
    var isBounded = false
    /// Whether anything is filtered out.
    var isNarrow = false

    func wants(_ commit: CommitInfo) -> Bool {
        guard correlations.isEmpty || commit.metadata.correlation.map(correlations.containsExactly) ?? false else {
            return false
        }
        guard !reasons.isEmpty else { return true }
        guard let reason = commit.metadata.reason else { return false }
        return reasons.contains { reason.contains($0) }
    }
}

extension HistoryReader {
    /// Resolves a command's arguments.
    ///
    /// - Parameter operations: The requested operations; all if nil.
    func filter(
        _ options: FilterOptions, range: PointRange? = nil, targets: [TargetArgument] = [], includesSchema: Bool = false
    ) throws -> ChangeFilter {
        var filter = ChangeFilter(logRange: try logRange(range, since: options.since, until: options.until))
        filter.isBounded = range != nil || options.since != nil || options.until != nil
        filter.isNarrow = filter.isBounded || !options.isEmpty || !targets.isEmpty
        filter.reasons = options.reason
        filter.correlations = Set(options.correlation)
        filter.query.positions = filter.logRange.positions
        filter.query.includesSchema = includesSchema
        filter.query.operations = options.operations
        if !options.actor.isEmpty { filter.query.actors = Set(options.actor) }
        if !options.app.isEmpty { filter.query.apps = Set(options.app) }
        let names = EntityNames(self)
        if !options.column.isEmpty {
            let entities = try options.table.isEmpty ? names.users : options.table.flatMap(names.entities)
            for column in options.column { try names.check(column: column, of: entities) }
            filter.query.columns = Set(options.column)
        }
        for table in options.table { _ = try names.entities(named: table) }
        for target in targets {
            if target.id == nil {
                _ = try names.entities(named: target.table)
                filter.tables.insert(target.table)
            } else {
                filter.rows.append(try row(target))
            }
        }
        // Targets widen each other; --table narrows their union.
        var tables = targets.isEmpty ? nil : filter.tables.union(filter.rows.map(\.entity.name))
        if !options.table.isEmpty { tables = tables?.filter(Set(options.table).containsExactly) ?? Set(options.table) }
        filter.query.tables = tables
        return filter
    }
}

extension FilterOptions {
    /// The requested operations as the log names them; nil for all.
    var operations: Set<StorageEvent.Operation>? {
        kinds.map { kinds in
            Set(
                kinds.map { kind in
                    switch kind {
                    case .insert: StorageEvent.Operation.insert
                    case .update: .update
                    case .delete: .delete
                    }
                })
        }
    }
}
