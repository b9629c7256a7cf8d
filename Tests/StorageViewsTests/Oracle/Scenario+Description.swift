import Foundation
import PredicateTestSupport
import StorageCore

@testable import StorageViews

/// Something that can be written as the Swift source that makes it.
protocol SourceWritable {
    var source: String { get }
}

extension Array: SourceWritable where Element: SourceWritable {
    var source: String { "[\(map(\.source).joined(separator: ", "))]" }
}

extension Optional: SourceWritable where Wrapped: SourceWritable {
    var source: String { map(\.source) ?? "nil" }
}

extension Bool: SourceWritable { var source: String { description } }
extension Int: SourceWritable { var source: String { description } }

extension String: SourceWritable {
    var source: String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\" + String(scalar)
            case " "..."~": text.unicodeScalars.append(scalar)
            default: text += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return text + "\""
    }
}

extension StorageValue: SourceWritable {
    var source: String {
        switch self {
        case .null: return ".null"
        case .integer(.min): return ".integer(.min)"
        case .integer(let value): return ".integer(\(value))"
        case .real(let value) where value.isFinite: return ".real(\(value))"
        case .real(let value): return ".real(\(value < 0 ? "-" : "").infinity)"
        case .text(let value): return ".text(\(value.source))"
        case .blob(let value): return ".blob(Data(\([UInt8](value))))"
        }
    }
}

extension RowOrdering: SourceWritable {
    var source: String {
        let direction = order == .ascending ? "" : ", .descending"
        return "RowOrdering(\(column.source)\(direction)\(collation.map { ", collation: .\($0)" } ?? ""))"
    }
}

extension RowPredicate: SourceWritable {
    var source: String {
        switch self {
        case .constant(let answer): return ".constant(\(answer.source))"
        case .comparison(let column, let comparison, let operand, let collation):
            let other =
                switch operand {
                case .value(let value): ".value(\(value.source))"
                case .column(let name): ".column(\(name.source))"
                }
            let collated = collation.map { ", collation: .\($0)" } ?? ""
            return ".comparison(column: \(column.source), .\(comparison), \(other)\(collated))"
        case .isNull(let column): return ".isNull(column: \(column.source))"
        case .among(let column, let values): return ".among(column: \(column.source), \(values.source))"
        case .between(let column, let lower, let upper):
            return ".between(column: \(column.source), \(lower.source), \(upper.source))"
        case .like(let column, let pattern, let escape):
            let mark = escape.map { ", escape: \(String($0).source)" } ?? ""
            return ".like(column: \(column.source), pattern: \(pattern.source)\(mark))"
        case .all(let parts): return ".all(\(parts.source))"
        case .any(let parts): return ".any(\(parts.source))"
        case .not(let part): return ".not(\(part.source))"
        case .sql(let sql, let values): return ".sql(\(sql.source), \(values.source))"
        }
    }
}

extension FieldWords: SourceWritable {
    var source: String {
        "FieldWords(text: \(text.source), fields: \(fields.source), isCaseSensitive: \(isCaseSensitive), isExact: \(isExact))"
    }
}

extension AggregateTerm: SourceWritable {
    var source: String { "AggregateTerm(.\(function)\(column.map { ", \($0.source)" } ?? ""))" }
}

extension TablePlan: SourceWritable {
    var source: String {
        let columns = columns.map { "Column(\($0.name.source), \($0.type.source), .\($0.collation))" }
        return "TablePlan([\(columns.map { "TablePlan." + $0 }.joined(separator: ", "))], keyCount: \(keyCount))"
    }
}

extension Scenario.Operation: SourceWritable {
    var source: String {
        "Scenario.Operation(\(sql.source)\(values.isEmpty ? "" : ", \(values.source)")\(isUndone ? ", isUndone: true" : ""))"
    }
}

extension Scenario.View: SourceWritable {
    var source: String {
        var parts = ["name: \(name.source)"]
        if let filter { parts.append("filter: \(filter.source)") }
        if let search { parts.append("search: \(search.source)") }
        if !orderings.isEmpty { parts.append("orderings: \(orderings.source)") }
        if let limit { parts.append("limit: \(limit)") }
        if offset > 0 { parts.append("offset: \(offset)") }
        return "Scenario.View(\(parts.joined(separator: ", ")), kind: \(kind.source))"
    }
}

extension Scenario.Kind: SourceWritable {
    var source: String {
        switch self {
        case .list(let margin, let isAnchored): ".list(margin: \(margin), isAnchored: \(isAnchored))"
        case .groups(let groups): ".groups(\(groups.source))"
        case .aggregates(let groups, let terms, let extremes):
            ".aggregates(groups: \(groups.source), terms: \(terms.source), extremes: \(extremes))"
        }
    }
}

extension Scenario.Groups: SourceWritable {
    var source: String {
        let key =
            switch key {
            case .column(let name): ".column(\(name.source))"
            case .length(let name, let modulo): ".length(of: \(name.source), modulo: \(modulo))"
            }
        var parts = ["key: \(key)", "order: .\(order)"]
        if !fixedKeys.isEmpty { parts.append("fixedKeys: \(fixedKeys.source)") }
        if keepsEmptyGroups { parts.append("keepsEmptyGroups: true") }
        if let limit { parts.append("limit: \(limit)") }
        return "Scenario.Groups(\(parts.joined(separator: ", ")))"
    }
}

extension Scenario.Relation: SourceWritable {
    var source: String {
        switch self {
        case .same(let left, let right): ".same(\(left.source), \(right.source))"
        case .parts(let parts, let whole): ".parts(\(parts.source), of: \(whole.source))"
        case .pages(let pages, let whole): ".pages(\(pages.source), of: \(whole.source))"
        case .total(let left, let right): ".total(\(left.source), \(right.source))"
        }
    }
}

extension Scenario.Step: SourceWritable {
    var source: String {
        switch self {
        case .commit(let operations): ".commit(\(operations.source))"
        case .rollBack(let operations): ".rollBack(\(operations.source))"
        case .look: ".look"
        case .move(let view, let offset): ".move(view: \(view.source), offset: \(offset))"
        }
    }
}

extension Scenario: CustomStringConvertible {
    var description: String {
        func lines(_ name: String, _ elements: [some SourceWritable]) -> String {
            "    \(name): [\n" + elements.map { "        \($0.source),\n" }.joined() + "    ]"
        }
        let parts = [
            "    table: \(table.source)", lines("filling", filling), lines("views", views),
            lines("relations", relations), lines("steps", steps), "    readsLog: \(readsLog)",
        ]
        return "Scenario(\n\(parts.joined(separator: ",\n")))"
    }
}
