public import Observation
public import StorageCore
public import StorageEntities

/// The rows that a query finds in groups, live.
///
/// ```swift
/// let staff = GroupedQuerySubscription(
///     storage.query(Employee.self).orderBy(\.name), groupBy: \.department,
///     configuration: .init(sortGroupsBy: .count(ascending: false), maxItemsPerGroup: 5))
/// for department in staff.sortedGroupKeys {
///     print(department, staff.count(in: department), staff.items(in: department).map(\.name))
/// }
/// ```
///
/// Rows are grouped by any property of the entity, including one that is computed from others. In a group they are in
/// the query's order. A change touches the group that its row was in and the group where it is now; a row that changes
/// its group moves from one to the other.
///
/// It keeps the index of each row that the query finds, some hundred bytes, also of those that aren't shown. The query
/// must have no limit and no offset; ``Configuration/maxItemsPerGroup`` limits the rows shown of each group. Only the
/// database can evaluate your own conditions in SQL and custom collations: with them each change of the table reloads
/// all rows, and so does each change of another table that such SQL reads.
@MainActor @Observable
public final class GroupedQuerySubscription<
    Entity: RegisteredEntity, GroupKey: Hashable & Sendable
>: StorageSubscription {
    /// A group with its rows.
    public typealias Section = GroupSection<GroupKey, Entity>
    /// The order of groups.
    public typealias GroupSortOrder = GroupOrder<GroupKey>

    /// How rows are grouped, and what is shown of the groups.
    public struct Configuration: Sendable {
        /// The order of the groups.
        public var sortGroupsBy: GroupSortOrder
        /// Whether a group stays, without rows, after its last row was removed, until the subscription ends.
        public var includeEmptyGroups: Bool
        /// Groups that exist from the beginning, even without rows.
        public var fixedGroups: [GroupKey]
        /// The maximum number of rows that are shown of a group; all if nil. Counts include the rows that aren't shown.
        public var maxItemsPerGroup: Int?

        /// Creates a configuration with an order of groups.
        public init(
            sortGroupsBy: GroupSortOrder, includeEmptyGroups: Bool = false, fixedGroups: [GroupKey] = [],
            maxItemsPerGroup: Int? = nil
        ) {
            self.sortGroupsBy = sortGroupsBy
            self.includeEmptyGroups = includeEmptyGroups
            self.fixedGroups = fixedGroups
            self.maxItemsPerGroup = maxItemsPerGroup
        }

        /// Groups in the order of their keys.
        public init(
            includeEmptyGroups: Bool = false, fixedGroups: [GroupKey] = [], maxItemsPerGroup: Int? = nil
        ) where GroupKey: Comparable {
            self.init(
                sortGroupsBy: .key(ascending: true), includeEmptyGroups: includeEmptyGroups, fixedGroups: fixedGroups,
                maxItemsPerGroup: maxItemsPerGroup)
        }
    }

    private var state = SteppedState<GroupUpdate<GroupKey, Entity>>()
    /// The groups with their rows, in their order.
    public var sections: [Section] { state.value }
    /// How many rows there are in all groups.
    public private(set) var totalCount = 0
    /// The indices of the groups; nil if they have to be computed.
    @ObservationIgnored private var indexByKey: [GroupKey: Int]?

    package init(
        _ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, configuration: Configuration,
        start: SubscriptionStart, key: @escaping @Sendable (Entity) -> GroupKey
    ) {
        super.init(engine)
        let spec = configuration.spec(request, key: key)
        follow(isImmediate: start.isImmediate(for: spec.request, of: spec.form.table), GroupNode(spec)) { [weak self] in
            self?.take($0)
        }
    }

    private func take(_ update: GroupUpdate<GroupKey, Entity>) {
        guard state.take(update) else { return readAgain() }
        took(update.error, at: update.position)
        guard update.error == nil else { return }
        indexByKey = nil
        totalCount = update.total
    }

    override func ended() {
        super.ended()
        state.end()
    }

    // MARK: Groups

    /// The rows that are shown, by group.
    public var groups: [GroupKey: [Entity]] { table(\.items) }
    /// The number of rows of each group, including those that aren't shown.
    public var groupCounts: [GroupKey: Int] { table(\.count) }
    /// The groups in their order.
    public var sortedGroupKeys: [GroupKey] { sections.map(\.key) }

    /// The visible rows of a group; empty if the group doesn't exist.
    public func items(in group: GroupKey) -> [Entity] { section(group)?.items ?? [] }
    /// The number of rows of a group, including those that aren't shown.
    public func count(in group: GroupKey) -> Int { section(group)?.count ?? 0 }
    /// Whether a group has any rows.
    ///
    /// ```swift
    /// if byStatus.hasItems(in: "open") { print(byStatus.items(in: "open")) }
    /// ```
    public func hasItems(in group: GroupKey) -> Bool { count(in: group) > 0 }

    /// The groups, or the error that has prevented reading them so far.
    public var result: Result<[Section], StorageError> { result(sections) }

    private func table<Value>(_ value: (Section) -> Value) -> [GroupKey: Value] {
        Dictionary(uniqueKeysWithValues: sections.map { ($0.key, value($0)) })
    }

    private func section(_ key: GroupKey) -> Section? {
        let sections = sections
        let indexByKey = indexByKey ?? Dictionary(uniqueKeysWithValues: sections.indices.map { (sections[$0].key, $0) })
        self.indexByKey = indexByKey
        return indexByKey[key].map { sections[$0] }
    }

    // MARK: Sequences

    /// The groups now, and after each change.
    public var snapshots: SubscriptionSequence<[Section]> {
        state.readSnapshots(of: self, at: position, isLoaded: refreshCount > 0)
            .repeated { self.snapshots }
    }

    /// The groups now, and then the difference from each state to the next.
    public var differences: SubscriptionSequence<GroupDifference<GroupKey, Entity>> {
        state.readDifferences(of: self, at: position, isLoaded: refreshCount > 0)
            .repeated { self.differences }
    }
}

extension GroupedQuerySubscription.Configuration {
    /// The rows of a request in these groups.
    func spec(
        _ request: QueryRequest<Entity>, key: @escaping @Sendable (Entity) -> GroupKey
    ) -> GroupSpec<Entity, GroupKey> {
        GroupSpec(
            RowForm(Entity.self), request.withoutInclusions, order: sortGroupsBy, fixedKeys: fixedGroups,
            keepsEmptyGroups: includeEmptyGroups, limit: maxItemsPerGroup, key: key)
    }
}
