public import StorageCore
internal import StorageHistory

/// What a rebuild did and found.
///
/// ```swift
/// let report = try await storage.rebuild("users", options: RebuildOptions(compares: true, swaps: false))
/// print(report.rows["users"] ?? 0, "rows,", report.differingRows, "differ")
/// for difference in report.differences { print(difference.kind, difference.id, difference.column ?? "") }
/// ```
public struct RebuildReport: Sendable {
    /// The number of rows of each rebuilt table, by its name.
    public internal(set) var rows: [String: Int] = [:]
    /// The last position that the new tables hold.
    public internal(set) var position: Int64 = 0
    /// The position that an interrupted rebuild had reached and from which this one resumed; 0 if it started over.
    public internal(set) var resumedAt: Int64 = 0
    /// The first differences between the old and the new tables, if they were compared.
    public internal(set) var differences: [Difference] = []
    /// How many rows differ altogether.
    public internal(set) var differingRows = 0
    /// Whether the new tables have replaced the old ones.
    public internal(set) var isSwapped = false
    /// The names of the tables that hold the old rows, by entity or by table of a projection.
    public internal(set) var kept: [String: String] = [:]

    mutating func add(_ difference: Difference) {
        differingRows += 1
        if differences.count < Self.differenceLimit { differences.append(difference) }
    }

    private static let differenceLimit = 20

    /// A row in which the old table differs from the log.
    public struct Difference: Sendable, Hashable, CustomStringConvertible {
        /// How a row differs.
        public enum Kind: String, Sendable {
            /// The row is in the log, but wasn't in the table.
            case missing
            /// The row was in the table, but isn't in the log.
            case extra
            /// A column of the row held something else.
            case different
        }

        /// The table of the row.
        public let table: String
        /// How the row differs.
        public let kind: Kind
        /// The row's key.
        public let id: String
        /// The first column that differs.
        public let column: String?
        /// The column's value according to the log.
        public let expected: StorageValue?
        /// The column's value in the old table.
        public let found: StorageValue?

        public var description: String {
            switch kind {
            case .missing: "\(table)/\(id) is missing"
            case .extra: "\(table)/\(id) isn't in the log"
            case .different: "\(table)/\(id) differs in \(column ?? "")"
            }
        }
    }
}

extension RebuildReport.Difference {
    init(_ table: String, _ found: RowComparison.Difference) {
        self.table = table
        switch found {
        case .missing(let key): (kind, id, column, expected, self.found) = (.missing, key, nil, nil, nil)
        case .extra(let key): (kind, id, column, expected, self.found) = (.extra, key, nil, nil, nil)
        case .different(let key, let name, let wanted, let held):
            (kind, id, column, expected, self.found) = (.different, key, name, wanted, held)
        }
    }
}
