/// A row's index in a grouped list.
public struct GroupPath: Sendable, Hashable, Codable {
    /// The group's index.
    public let section: Int
    /// The row's index in its group.
    public let row: Int

    /// Creates an index path.
    public init(section: Int, row: Int) {
        self.section = section
        self.row = row
    }
}
