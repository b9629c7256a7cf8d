package import StorageEntities

/// Which rows a grouped list holds, and how they are grouped.
package struct GroupSpec<Item: Sendable, Key: Hashable & Sendable>: Sendable {
    package let form: RowForm<Item>
    /// The rows, and their order in a group.
    package let request: RowRequest
    /// The group that a row belongs to.
    package let key: @Sendable (Item) -> Key
    package let order: GroupOrder<Key>
    /// Groups that are there also without rows.
    package var fixedKeys: [Key]
    /// Whether a group stays when its last row goes.
    package var keepsEmptyGroups: Bool
    /// How many rows of a group are shown; all of them if nil.
    package var limit: Int?

    package init(
        _ form: RowForm<Item>, _ request: RowRequest, order: GroupOrder<Key>, fixedKeys: [Key] = [],
        keepsEmptyGroups: Bool = false, limit: Int? = nil, key: @escaping @Sendable (Item) -> Key
    ) {
        self.form = form
        self.request = request
        self.order = order
        self.fixedKeys = fixedKeys
        self.keepsEmptyGroups = keepsEmptyGroups
        self.limit = limit.map { max(0, $0) }
        self.key = key
    }
}
