import PredicateTestSupport
import StorageCore

/// Makes scenarios of traits: the same one for the same seed.
struct ScenarioMaker {
    private let traits: ViewTraits
    private let table: TablePlan
    private var generator: PredicateGenerator
    private var views: ViewMaker
    private var operations: OperationMaker

    static func scenario(_ traits: ViewTraits, seed: UInt64) -> Scenario {
        var maker = ScenarioMaker(traits, seed: seed)
        return maker.scenario()
    }

    private init(_ traits: ViewTraits, seed: UInt64) {
        self.traits = traits
        var generator = PredicateGenerator(seed: seed)
        table = Self.table(&generator)
        // Texts that are the same for one collation and not for the other.
        let word = generator.pick(["a", "ab", "b", "a b", "5", "5.0", "%", "é", ""])
        let words = [
            word, word.uppercased(), generator.pick([word + " ", " " + word]), generator.pick(["a", "Ab", "b a", "5"]),
        ]
        let favourites = (0..<3).map { _ in generator.value() } + [.text(word)]
        // Of the values that come, most are these.
        var values = PredicateGenerator(seed: generator.next(), columns: table.names)
        values.favourites = favourites
        views = ViewMaker(table, words: words, values)
        values = PredicateGenerator(seed: generator.next(), columns: table.names)
        values.favourites = favourites + [.null]
        operations = OperationMaker(table, words: words, values)
        self.generator = generator
    }

    private static func table(_ generator: inout PredicateGenerator) -> TablePlan {
        let keys: [[TablePlan.Column]] = [
            [TablePlan.Column("k", "TEXT", generator.chance(70) ? .binary : .noCase)],
            [TablePlan.Column("k", "INTEGER")],
            [TablePlan.Column("k", "TEXT"), TablePlan.Column("m", "INTEGER")],
        ]
        let key = generator.pick(keys)
        let contents = (0..<generator.number(2...7)).map { number in
            // Texts are what most conditions look at.
            TablePlan.Column(
                "c\(number)",
                number == 0 ? "TEXT" : generator.pick(["", "INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC"]),
                generator.pick([.binary, .binary, .noCase, .trimmed]))
        }
        return TablePlan(key + contents, keyCount: key.count)
    }

    private mutating func scenario() -> Scenario {
        var scenario = Scenario(table: table, views: [views.view("main", traits)], readsLog: generator.chance(25))
        views.relate(scenario.views[0], &scenario)
        // Whatever the traits are, something happens in each scenario: in a window, in groups or in aggregates.
        let window = generator.pick([ViewTraits.Window.limit, .offset, .anchored])
        scenario.views.append(views.lively("list", window, .plain, .plain))
        scenario.views.append(
            generator.chance(50)
                ? views.lively(
                    "other", .plain, generator.pick([.plain, .column]), generator.pick(ViewTraits.Aggregate.allCases))
                : views.lively("other", .plain, generator.pick(ViewTraits.Group.allCases), .plain))
        scenario.filling = (0..<generator.number(10...16)).flatMap { _ in operations.make(.insert) }
        let lists = scenario.views.filter { if case .list = $0.kind { $0.limit != nil } else { false } }
        let movable = lists.map(\.name).filter { !$0.hasPrefix("page") }
        for number in 0..<10 {
            scenario.steps += transaction(number)
            if generator.chance(20), !movable.isEmpty {
                scenario.steps.append(.move(view: generator.pick(movable), offset: generator.number(0...10)))
            } else if generator.chance(75) {
                scenario.steps.append(.look)
            }
        }
        scenario.steps.append(.look)
        return scenario
    }

    /// Every second transaction does what the traits say, among other things.
    private mutating func transaction(_ number: Int) -> [Scenario.Step] {
        var made = (0..<generator.number(0...2)).flatMap { _ in operations.make(operations.anyKind()) }
        switch number % 2 == 0 ? traits.operation : operations.anyKind() {
        case .rollback:
            made += operations.make(operations.anyKind())
            return [.rollBack(made)]
        case .savepoint:
            var undone = operations.make(operations.anyKind()) + operations.make(operations.anyKind())
            for place in undone.indices { undone[place].isUndone = true }
            return [.commit(made + undone + operations.make(operations.anyKind()))]
        case let kind: return [.commit(made + operations.make(kind))]
        }
    }
}
