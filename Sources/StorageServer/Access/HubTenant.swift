/// The rows of one tenant of a hub that serves several: those whose column has the tenant's value.
public struct HubTenant: Sendable, Hashable, Codable {
    /// The column that identifies the tenant of a row, in each entity.
    public var column: String
    /// The tenant's value in that column.
    public var value: String

    /// Creates a tenant.
    public init(_ value: String, column: String = "tenant") {
        self.column = column
        self.value = value
    }
}
