internal import StorageCore
internal import StorageHistory
public import StorageLog

/// The differences between two points of a store, row by row, as ``Storage/diff(from:to:tables:)`` returns them.
///
/// ```swift
/// let differences = storage.diff(from: .tag("release-3"), to: .tag("release-4"), tables: ["users"])
/// for try await change in differences { print(change.operation, change.key) }
/// ```
///
/// Each iteration compares again: if the second point is the head, it includes what was committed since.
public struct StorageDifference: AsyncSequence, Sendable {
    public typealias Element = RowDifference
    let engine: StorageEngine
    let from: StoragePoint
    let to: StoragePoint
    let tables: Set<String>

    public func makeAsyncIterator() -> Iterator { Iterator(difference: self) }

    public struct Iterator: AsyncIteratorProtocol {
        private let difference: StorageDifference
        private var pages: DifferencePages?
        private var buffer: ArraySlice<RowDifference> = []

        init(difference: StorageDifference) { self.difference = difference }

        /// Returns the next difference; nil at the end.
        ///
        /// - Throws: ``StorageError``: `closed`, `corrupt` for a segment that can't be decoded.
        public mutating func next() async throws -> RowDifference? {
            if buffer.isEmpty {
                let pages: DifferencePages
                if let known = self.pages {
                    pages = known
                } else {
                    pages = try await DifferencePages.make(
                        difference.engine, from: difference.from, to: difference.to, tables: difference.tables)
                    self.pages = pages
                }
                buffer = try pages.page().map(RowDifference.init)[...]
            }
            return buffer.popFirst()
        }
    }
}
