import StorageKit
import TestSupport

/// A random query across the library's tables, and what it means of rows in arrays.
struct RandomQuery<Entity: LibraryEntity>: Sendable {
    private(set) var request = Entity.all()
    /// The query as one would type it.
    private(set) var text = "\(Entity.self)"
    private var conditions: [@Sendable (Entity, LibraryRows) -> Bool] = []
    private var orders: [@Sendable (Entity, Entity) -> Int] = []
    /// Whether the last order is, whose direction the key follows.
    private var isDescending = false
    private var limit: Int?
    private var offset = 0
    private var inclusions: [@Sendable (inout Entity, LibraryRows) -> Void] = []

    /// - Parameters:
    ///   - depth: How many levels of related rows it may reach.
    ///   - isCondition: Whether it is one on related rows, which has no window and includes nothing.
    init(_ generator: inout SplitMix64, depth: Int = 3, isCondition: Bool = false) {
        while generator.chance(35) { add(Entity.condition(&generator)) }
        if depth > 0 {
            while generator.chance(isCondition ? 30 : 45) { Entity.relate(&self, &generator, depth: depth - 1) }
        }
        guard !isCondition else { return }
        while generator.chance(40) { add(Entity.order(&generator)) }
        if generator.chance(35) {
            let limit = 1 + generator.below(5)
            self.limit = limit
            request = request.limit(limit)
            text += ".limit(\(limit))"
        }
        if limit != nil, generator.chance(25) {
            offset = generator.below(3)
            request = request.offset(offset)
            text += ".offset(\(offset))"
        }
        if depth > 0 { while generator.chance(55) { Entity.include(&self, &generator, depth: depth - 1) } }
    }

    /// What it finds among rows.
    func find(_ rows: [Entity], _ library: LibraryRows) -> [Entity] {
        let found = rows.filter { row in conditions.allSatisfy { $0(row, library) } }.sorted { first, second in
            for order in orders {
                let result = order(first, second)
                if result != 0 { return result < 0 }
            }
            return isDescending ? Entity.precedes(second, first) : Entity.precedes(first, second)
        }
        return found.dropFirst(offset).prefix(limit ?? .max).map { row in
            var row = row
            for include in inclusions { include(&row, library) }
            return row
        }
    }

    func find(in library: LibraryRows) -> [Entity] { find(Entity.rows(in: library), library) }

    // MARK: Parts

    private mutating func add(_ condition: RandomCondition<Entity>) {
        request = request.where(condition.predicate)
        text += ".where { \(condition.text) }"
        conditions.append { row, _ in condition.isTrue(row) }
    }

    private mutating func add(_ order: RandomOrder<Entity>) {
        request = order.apply(request)
        text += ".orderBy(\(order.text))"
        orders.append(order.compare)
        isDescending = order.isDescending
    }

    /// A condition on related rows.
    ///
    /// - Parameter apply: Adds the condition, or its negation, for rows that a query finds.
    mutating func relate<Other: LibraryEntity>(
        _ name: String, _ generator: inout SplitMix64, depth: Int,
        isRelated: @escaping @Sendable (Entity, Other) -> Bool,
        apply: (_ request: QueryRequest<Entity>, _ isNegated: Bool, _ other: QueryRequest<Other>) -> QueryRequest<
            Entity
        >
    ) {
        let other = RandomQuery<Other>(&generator, depth: depth, isCondition: true)
        let isNegated = generator.chance(35)
        request = apply(request, isNegated, other.request)
        text += ".\(isNegated ? "hasNo" : "has")(\(name), \(other.text))"
        conditions.append { row, library in
            let related = Other.rows(in: library).filter { isRelated(row, $0) }
            return other.find(related, library).isEmpty == isNegated
        }
    }

    /// A condition on related rows that is named in words.
    mutating func relate(
        _ name: String, isNegated: Bool, apply: (QueryRequest<Entity>) -> QueryRequest<Entity>,
        isTrue: @escaping @Sendable (Entity, LibraryRows) -> Bool
    ) {
        request = apply(request)
        text += ".\(isNegated ? "hasNo" : "has")(\(name))"
        conditions.append(isTrue)
    }

    /// Rows that are read along.
    ///
    /// - Parameters:
    ///   - apply: Adds the inclusion of what a query finds.
    ///   - put: Puts the rows into their owner.
    mutating func include<Other: LibraryEntity>(
        _ name: String, _ generator: inout SplitMix64, depth: Int,
        isRelated: @escaping @Sendable (Entity, Other) -> Bool,
        apply: (_ request: QueryRequest<Entity>, _ other: QueryRequest<Other>) -> QueryRequest<Entity>,
        put: @escaping @Sendable ([Other], inout Entity) -> Void
    ) {
        let other = RandomQuery<Other>(&generator, depth: depth)
        request = apply(request, other.request)
        text += ".include(\(name)) { \(other.text) }"
        inclusions.append { row, library in
            let owner = row
            put(other.find(Other.rows(in: library).filter { isRelated(owner, $0) }, library), &row)
        }
    }
}

/// A condition for SQL, and what it means of a row.
struct RandomCondition<Entity: LibraryEntity>: Sendable {
    let text: String
    let predicate: @Sendable (ColumnRef<Entity>) -> RowPredicate
    let isTrue: @Sendable (Entity) -> Bool

    init(
        _ text: String, _ predicate: @escaping @Sendable (ColumnRef<Entity>) -> RowPredicate,
        _ isTrue: @escaping @Sendable (Entity) -> Bool
    ) {
        self.text = text
        self.predicate = predicate
        self.isTrue = isTrue
    }
}

/// An order for SQL, and what it means of two rows.
struct RandomOrder<Entity: LibraryEntity>: Sendable {
    let text: String
    let apply: @Sendable (QueryRequest<Entity>) -> QueryRequest<Entity>
    let compare: @Sendable (Entity, Entity) -> Int
    let isDescending: Bool

    /// - Parameter value: The column's value in a row; nil is NULL, which comes first.
    init<Value: Comparable & SendableMetatype>(
        _ text: String, _ generator: inout SplitMix64, _ value: @escaping @Sendable (Entity) -> Value?,
        _ apply: @escaping @Sendable (QueryRequest<Entity>, RowOrder) -> QueryRequest<Entity>
    ) {
        let isDescending = generator.chance(40)
        self.isDescending = isDescending
        self.text = text + (isDescending ? ", .descending" : "")
        self.apply = { apply($0, isDescending ? .descending : .ascending) }
        compare = { first, second in
            let result =
                switch (value(first), value(second)) {
                case (nil, nil): 0
                case (nil, _): -1
                case (_, nil): 1
                case (let first?, let second?): first < second ? -1 : first > second ? 1 : 0
                }
            return isDescending ? -result : result
        }
    }
}
