import Foundation
import PredicateTestSupport

@testable import StorageCore
@testable import StorageLog
@testable import StorageViews

/// Makes views of a table.
struct ViewMaker {
    private let table: TablePlan
    private let words: [String]
    private var generator: PredicateGenerator

    /// - Parameter words: What most texts are, so that conditions on texts find some.
    init(_ table: TablePlan, words: [String], _ generator: PredicateGenerator) {
        (self.table, self.words, self.generator) = (table, words, generator)
    }

    /// A view that most rows belong to.
    mutating func lively(
        _ name: String, _ window: ViewTraits.Window, _ group: ViewTraits.Group, _ aggregate: ViewTraits.Aggregate
    ) -> Scenario.View {
        view(
            name,
            ViewTraits(
                filter: generator.chance(60) ? .plain : generator.pick(ViewTraits.Filter.allCases),
                order: generator.pick(ViewTraits.Order.allCases), window: window, group: group, aggregate: aggregate,
                search: generator.chance(80) ? .plain : generator.pick(ViewTraits.Search.allCases), operation: .update))
    }

    mutating func view(_ name: String, _ traits: ViewTraits) -> Scenario.View {
        var view = Scenario.View(name: name, filter: filter(traits.filter), kind: .list())
        view.search = search(traits.search)
        view.orderings = orderings(traits.order)
        switch traits.window {
        case .plain: break
        case .limit: view.limit = generator.number(1...6)
        case .offset, .anchored: (view.limit, view.offset) = (generator.number(1...5), generator.number(1...4))
        case .empty: view.limit = 0
        }
        view.kind = kind(traits)
        return view
    }

    private mutating func kind(_ traits: ViewTraits) -> Scenario.Kind {
        if traits.aggregate != .plain {
            var groups: [String] = []
            if traits.group == .column {
                groups = [content()] + (generator.chance(30) ? [generator.pick(table.names)] : [])
                if groups.count == 2, groups[0] == groups[1] { groups.removeLast() }
            }
            return .aggregates(groups: groups, terms: terms(traits.aggregate), extremes: generator.number(1...4))
        }
        if traits.group != .plain { return .groups(groups(traits.group)) }
        return .list(margin: generator.number(0...3), isAnchored: traits.window == .anchored)
    }

    private mutating func terms(_ aggregate: ViewTraits.Aggregate) -> [AggregateTerm] {
        let function: AggregateTerm.Function =
            switch aggregate {
            case .plain, .count: .count
            case .sum: .sum
            case .average: .average
            case .minimum: .minimum
            case .maximum: .maximum
            case .distinct: .distinctCount
            }
        let terms = [AggregateTerm(.count), AggregateTerm(function, content()), AggregateTerm(function, content())]
        guard generator.chance(50) else { return terms }
        let other = generator.pick([AggregateTerm.Function.count, .distinctCount, .sum, .average, .minimum, .maximum])
        return terms + [AggregateTerm(other, generator.pick(table.names))]
    }

    private mutating func groups(_ group: ViewTraits.Group) -> Scenario.Groups {
        let computed = Scenario.GroupKey.length(of: content(), modulo: generator.number(1...4))
        let byKey = generator.pick([Scenario.Groups.Order.key, .reversedKey])
        let byCount = generator.pick([Scenario.Groups.Order.fewestFirst, .mostFirst])
        let order = generator.pick([byKey, byCount])
        switch group {
        case .plain, .column: return Scenario.Groups(key: .column(content()), order: byKey)
        case .columnByCount: return Scenario.Groups(key: .column(content()), order: byCount)
        case .computed: return Scenario.Groups(key: computed, order: byKey)
        case .computedByCount: return Scenario.Groups(key: computed, order: byCount)
        case .fixed: return Scenario.Groups(key: computed, order: order, fixedKeys: [.integer(0), .integer(7)])
        case .keptEmpty: return Scenario.Groups(key: computed, order: order, keepsEmptyGroups: true)
        case .limited: return Scenario.Groups(key: computed, order: order, limit: generator.number(0...3))
        }
    }

    private mutating func content() -> String { generator.pick(table.contentNames) }

    /// A column in which texts often are what they were written as.
    private mutating func text() -> String {
        generator.pick(table.columns.dropFirst(table.keyCount).filter { $0.type == "TEXT" }.map(\.name))
    }

    private mutating func orderings(_ order: ViewTraits.Order) -> [RowOrdering] {
        switch order {
        case .plain: []
        case .ascending: [RowOrdering(content())]
        case .descending: [RowOrdering(content(), .descending)]
        case .twoColumns: [RowOrdering(content(), .descending), generator.ordering()]
        case .collated: [RowOrdering(text(), collation: generator.pick([.noCase, .trimmed, .binary]))]
        }
    }

    private mutating func search(_ search: ViewTraits.Search) -> FieldWords? {
        guard search != .plain else { return nil }
        let fields = generator.chance(50) ? [text()] : [text(), content()]
        let known = words.filter { !$0.isEmpty } + ["a"]
        let (first, second) = (generator.pick(known), generator.pick(known))
        let text = generator.pick([first, String(first.prefix(1)), "\(first.prefix(1)) \(second)"])
        return FieldWords(
            text: search == .exact ? first : text, fields: fields,
            isCaseSensitive: search == .caseSensitive || search == .exact && generator.chance(50),
            isExact: search == .exact)
    }

    private mutating func filter(_ filter: ViewTraits.Filter) -> RowPredicate? {
        switch filter {
        case .plain: return nil
        case .equality:
            let comparison = generator.pick([RowPredicate.Comparison.equal, .same, .notEqual, .different])
            return generator.chance(50)
                ? .comparison(column: content(), comparison, .value(generator.value()))
                : .comparison(column: text(), comparison, .value(.text(generator.pick(words))))
        case .range: return range()
        case .prefix: return .hasPrefix(text(), String(generator.pick(words).prefix(generator.number(0...2))))
        case .among:
            let values = (0..<generator.number(0...4)).map { _ in generator.value() }
            return generator.chance(50)
                ? .among(column: content(), values)
                : .among(column: text(), values + words.prefix(2).map { .text($0) })
        case .null: return generator.chance(50) ? .isNull(column: content()) : .not(.isNull(column: content()))
        case .or: return .any([self.filter(.equality), range(), self.filter(.null)].compactMap { $0 })
        case .not: return .not(generator.predicate(depth: 1))
        case .tree: return generator.predicate(depth: 2)
        case .sql:
            let name = quoted(content())
            return generator.pick([
                .sql("length(\(name)) > ?", [.integer(1)]), .sql("\(name) IS NOT NULL", []),
                .sql("typeof(\(name)) = ? OR \(name) > ?", [.text("text"), generator.value()]),
                .all([.sql("\(name) IS NOT ?", [generator.value()]), range()]),
            ])
        }
    }

    private mutating func range() -> RowPredicate {
        let bounds = [generator.value(), generator.value()].sorted { SQLiteComparison.order($0, $1, by: .binary) < 0 }
        let comparison = generator.pick([RowPredicate.Comparison.less, .lessOrEqual, .greater, .greaterOrEqual])
        return generator.chance(50)
            ? .between(column: content(), bounds[0], bounds[1])
            : .comparison(column: content(), comparison, .value(bounds[0]))
    }

    // MARK: Relations

    /// Adds views that must show what the main one shows, or parts of it.
    mutating func relate(_ main: Scenario.View, _ scenario: inout Scenario) {
        var whole = main
        (whole.name, whole.limit, whole.offset, whole.kind) = ("whole", nil, 0, .list())
        if case .list = main.kind, main.limit == nil {
            whole.name = "main"
        } else {
            scenario.views.append(whole)
        }
        if main.limit == nil, whole.name != "main" { scenario.relations.append(.total("main", whole.name)) }
        func add(_ name: String, _ filter: RowPredicate, _ scenario: inout Scenario) {
            var view = whole
            (view.name, view.filter) = (name, filter)
            scenario.views.append(view)
        }
        if let search = main.search, generator.chance(50) {
            var view = whole
            (view.name, view.search) = ("words", nil)
            view.filter = main.filter.map { $0 && search.inOtherWords } ?? search.inOtherWords
            scenario.views.append(view)
            scenario.relations.append(.same(whole.name, "words"))
        }
        switch main.filter {
        case .among(let column, let values)?:
            add("same", .any(values.map { .comparison(column: column, .equal, .value($0)) }), &scenario)
            scenario.relations.append(.same(whole.name, "same"))
        case .between(let column, _, _)?, .comparison(let column, .less, _, _)?,
            .comparison(let column, .greater, _, _)?:
            let half = generator.number(-5...5)
            for (name, comparison) in [("low", RowPredicate.Comparison.less), ("high", .greaterOrEqual)] {
                let part = RowPredicate.comparison(column: column, comparison, .value(.integer(Int64(half))))
                add(name, main.filter.map { $0 && part } ?? part, &scenario)
            }
            scenario.relations.append(.parts(["low", "high"], of: whole.name))
        case let filter:
            if case .list(_, isAnchored: false) = main.kind, let limit = main.limit, limit > 0 {
                for page in 0..<2 {
                    var view = main
                    (view.name, view.offset) = ("page \(page)", page * limit)
                    scenario.views.append(view)
                }
                scenario.relations.append(.pages(["page 0", "page 1"], of: whole.name))
            } else {
                // A row that meets a condition also meets it or another one.
                let other = RowPredicate.isNull(column: content())
                let known = filter ?? .constant(true)
                add("same", known && .any([known, other]), &scenario)
                scenario.relations.append(.same(whole.name, "same"))
            }
        }
    }
}

extension FieldWords {
    /// The same search as SQL that is made without it.
    fileprivate var inOtherWords: RowPredicate {
        let words = isExact ? [text] : text.components(separatedBy: .whitespaces).filter { !$0.isEmpty }
        let names = fields.map(quoted)
        let one =
            if isExact {
                names.map { "\($0) COLLATE \(isCaseSensitive ? "BINARY" : "NOCASE") = ?" }
            } else if isCaseSensitive {
                names.map { "instr(\($0), ?)" }
            } else {
                names.map { "typeof(\($0)) <> 'blob' AND instr(lower(\($0)), lower(?))" }
            }
        let all = words.map { _ in "(\(one.joined(separator: " OR ")))" }.joined(separator: " AND ")
        return .sql(words.isEmpty ? "1" : all, words.flatMap { word in names.map { _ in .text(word) } })
    }
}
