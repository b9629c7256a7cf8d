package import StorageCore
package import StorageEntities
internal import StorageLog

/// One number that is kept of a set of rows.
package struct AggregateTerm: Sendable, Hashable {
    package enum Function: Sendable, Hashable {
        /// Of rows where there is no column, of values that aren't NULL otherwise.
        case count
        case distinctCount
        case sum
        case average
        case minimum
        case maximum
    }

    package let function: Function
    /// The column's name; nil for the number of rows.
    package let column: String?

    package init(_ function: Function, _ column: String? = nil) {
        self.function = function
        self.column = column
    }

    /// Whether it depends on how the column compares values.
    var compares: Bool {
        switch function {
        case .distinctCount, .minimum, .maximum: true
        case .count, .sum, .average: false
        }
    }

    /// The aggregate as an SQL expression.
    func sql(_ table: QueryTable) throws -> String {
        guard let column else { return "count(*)" }
        let name = try table.column(named: column)
        return switch function {
        case .count: "count(\(name))"
        case .distinctCount: "count(DISTINCT \(name))"
        case .sum: "sum(\(name))"
        case .average: "avg(\(name))"
        case .minimum: "min(\(name))"
        case .maximum: "max(\(name))"
        }
    }
}

/// Which rows are counted and summed up, how they are grouped, and what is wanted of each group.
package struct AggregateSpec: Sendable {
    package let table: QueryTable
    package let request: RowRequest
    /// The grouping columns. If empty, all rows form one group, which exists even without rows.
    package let groups: [String]
    package let terms: [AggregateTerm]
    /// How many of the least and greatest values are read at once.
    package var extremeCount = 32

    package init(_ table: QueryTable, _ request: RowRequest, groups: [String] = [], terms: [AggregateTerm]) {
        self.table = table
        self.request = request
        self.groups = groups
        self.terms = terms
    }

    /// Whether only a part of the rows is meant, so that one row may push another one out.
    var hasWindow: Bool { request.limit != nil || request.offset > 0 }
}

/// One group as a node publishes it.
package struct AggregateRow: Sendable, Hashable {
    /// The values that its rows are grouped by.
    package let key: [StorageValue]
    /// One for each term.
    package let values: [StorageValue]
}
