import ArgumentParser

/// The filter of changes for a command. Repeating an option widens the selection, different options narrow it.
struct FilterOptions: ParsableArguments {
    // A point may begin with a hyphen (-2h), which would otherwise be taken for an option.
    @Option(
        name: .long, parsing: .unconditional, help: "Only changes after this point.",
        transform: FilterOptions.point)
    var since: PointArgument?

    @Option(
        name: .long, parsing: .unconditional, help: "Only changes up to this point.",
        transform: FilterOptions.point)
    var until: PointArgument?

    @Option(name: .long, help: "Only changes by this actor; may be repeated.")
    var actor: [String] = []

    @Option(name: .long, help: "Only changes by this app; may be repeated.")
    var app: [String] = []

    @Option(name: .long, help: "Only commits whose reason contains this text; may be repeated.")
    var reason: [String] = []

    @Option(name: .long, help: "Only commits with this correlation id; may be repeated.")
    var correlation: [String] = []

    @Option(name: .long, help: "Only changes to this table; may be repeated.")
    var table: [String] = []

    @Option(name: .long, help: "Only these operations, such as i,u,d or insert; may be repeated.")
    var op: [OperationFilter] = []

    @Option(name: .long, help: "Only inserts, deletes, and updates of this column; may be repeated.")
    var column: [String] = []

    init() {}

    /// The requested operations; nil for all.
    var kinds: Set<HistoryOperation.Kind>? {
        op.isEmpty ? nil : op.reduce(into: Set()) { $0.formUnion($1.kinds) }
    }

    /// Whether nothing is filtered out.
    var isEmpty: Bool {
        since == nil && until == nil && actor.isEmpty && app.isEmpty && reason.isEmpty && correlation.isEmpty
            && table.isEmpty && op.isEmpty && column.isEmpty
    }

    private static func point(_ text: String) throws -> PointArgument {
        try PointArgument(text, now: SystemTime.now)
    }
}
