public import StorageCore

/// What a batch makes of one row: how it was before the batch and how it is after, however often it changed in between.
public struct RowChange: Sendable, Hashable {
    /// The table of the row.
    public let table: String
    /// The primary key.
    public let key: [StorageValue]
    /// The whole row before, by columns; nil where there was none.
    public let old: [String: StorageValue]?
    /// The whole row after, by columns; nil where there is none any more.
    public let new: [String: StorageValue]?
    /// Position of the row's last event in the batch.
    public let position: Int64
}
