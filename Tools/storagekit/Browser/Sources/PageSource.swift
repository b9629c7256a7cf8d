import StorageKit

/// Reads the lines of one screen, a page at a time.
protocol PageSource: Sendable {
    /// Passes items to the writer, from the edge that the page begins at, until it is full.
    func read(_ page: LinePage, in store: HistoryReader, to writer: PageWriter) throws
}

extension LinePage {
    /// Returns the numbers of a page's items, in its order, for items that are numbered from zero.
    ///
    /// - Parameter count: The number of items.
    func numbers(of count: Int64) -> StrideThrough<Int64> {
        switch self {
        case .first, .point: stride(from: 0, through: count - 1, by: 1)
        case .at(let number): stride(from: max(number, 0), through: count - 1, by: 1)
        case .after(let cursor): stride(from: cursor.upperBound + 1, through: count - 1, by: 1)
        case .last: stride(from: count - 1, through: 0, by: -1)
        case .before(let cursor): stride(from: cursor.lowerBound - 1, through: 0, by: -1)
        }
    }
}
