internal import StorageCore

/// What a token allows on one entity, or on all entities without a grant of their own.
///
/// ```swift
/// let grant = try HubGrant(entity: "notes", reads: true, writes: true, condition: "owner = 'ada'")
/// ```
public struct HubGrant: Sendable, Hashable, Codable {
    /// The entity's name; nil for every entity without a grant of its own.
    public var entity: String?
    /// Whether documents may be read.
    public var reads: Bool
    /// Whether documents may be written.
    public var writes: Bool
    /// A condition on rows, such as `owner = 'ada'`: rows that don't match don't exist for the client, and it can't
    /// write them. Nil for all rows.
    public var condition: String?

    /// Creates a grant.
    ///
    /// - Parameters:
    ///   - entity: The entity's name; nil for every entity without a grant of its own.
    ///   - condition: A condition on rows, such as `owner = 'ada' and state <> 'draft'`; nil for all rows.
    /// - Throws: `StorageError` with the code `invalid-query` for an invalid condition.
    public init(entity: String?, reads: Bool = true, writes: Bool = false, condition: String? = nil) throws {
        self.entity = entity
        self.reads = reads
        self.writes = writes
        self.condition = condition
        _ = try predicate()
    }

    /// - Throws: `invalid-query` for an invalid condition.
    func predicate() throws -> RowPredicate? { try condition.map { try ConditionText($0).predicate } }
}
