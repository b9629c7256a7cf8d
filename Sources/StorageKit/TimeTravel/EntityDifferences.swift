internal import GRDB
public import StorageCore
public import StorageEntities
internal import StorageHistory
public import StorageLog

/// An entity that differs between two points.
///
/// ```swift
/// for try await change in storage.diff(User.self, from: .commit(12)) where change.operation == .update {
///     print(change.old?.name ?? "", "is now", change.new?.name ?? "")
/// }
/// ```
public struct EntityDifference<E: StorageKitEntity>: Sendable {
    /// The entity at the first point; nil if it didn't exist then.
    public let old: E?
    /// The entity at the second point; nil if it didn't exist then.
    public let new: E?

    /// The operation that turns the first state into the second.
    public var operation: StorageEvent.Operation {
        switch (old, new) {
        case (nil, _): .insert
        case (_, nil): .delete
        default: .update
        }
    }
}

/// The entities of one type that differ between two points, as ``Storage/diff(_:from:to:)`` returns them.
///
/// ```swift
/// let differences = storage.diff(User.self, from: .tag("release-3"), to: .tag("release-4"))
/// for try await change in differences { print(change) }
/// ```
public struct EntityDifferences<E: RegisteredEntity>: AsyncSequence, Sendable {
    public typealias Element = EntityDifference<E>
    let engine: StorageEngine
    let upcasts: [String: Upcast]
    let from: StoragePoint
    let to: StoragePoint

    public func makeAsyncIterator() -> Iterator { Iterator(differences: self) }

    public struct Iterator: AsyncIteratorProtocol {
        private let differences: EntityDifferences
        private var pages: DifferencePages?
        private var buffer: ArraySlice<EntityDifference<E>> = []

        init(differences: EntityDifferences) { self.differences = differences }

        /// Returns the next difference; nil at the end.
        ///
        /// - Throws: ``StorageError``: `closed`, `schema-mismatch` if a column was converted since and this program doesn't
        ///   declare the conversion, `not-found` for an entity that the store has never had.
        public mutating func next() async throws -> EntityDifference<E>? {
            while buffer.isEmpty {
                let pages: DifferencePages
                if let known = self.pages {
                    pages = known
                } else {
                    pages = try await DifferencePages.make(
                        differences.engine, from: differences.from, to: differences.to,
                        entity: E.Record.databaseTableName)
                    self.pages = pages
                }
                let changes = try pages.page()
                guard !changes.isEmpty else { return nil }
                buffer = try await Self.entities(of: changes, pages, differences)[...]
            }
            return buffer.popFirst()
        }

        /// Returns the whole entities, assembled from the rows' own events.
        private static func entities(
            of changes: [NetChange], _ pages: DifferencePages, _ differences: EntityDifferences
        ) async throws -> [EntityDifference<E>] {
            let (from, to) = (pages.from, pages.to)
            return try await differences.engine.readLong { db in
                let connection = try db.connection
                let rows = try HistoricalRows<E.Record>(connection, upcasts: differences.upcasts)
                return try changes.compactMap { change in
                    let key = change.key.map(\.value)
                    let old = try change.table.from.flatMap { try rows.row(key, of: $0, at: from) }
                    let new = try change.table.to.flatMap { try rows.row(key, of: $0, at: to) }
                    // The rows may differ only in a column that the entity doesn't have.
                    if rows.isSame(old, new) { return nil }
                    return EntityDifference(old: try old.map(rows.entity), new: try new.map(rows.entity))
                }
            }
        }
    }
}

extension EntityDifference: CustomStringConvertible {
    /// The entity at both points: `User(…) → User(…)`; `none` for a point at which it didn't exist.
    public var description: String { "\(old.map { "\($0)" } ?? "none") → \(new.map { "\($0)" } ?? "none")" }
}
