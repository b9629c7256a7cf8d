internal import GRDB
public import StorageCore
public import StorageEntities
public import StorageLog

extension Storage {
    /// Returns every version of one entity, oldest first, even if it is deleted now. The cost is one look-up per version.
    ///
    /// ```swift
    /// for version in try await storage.history(User.self, id: "42") {
    ///     print(version.commit.metadata.actor ?? "", version.operation, try version.entity?.name ?? "deleted")
    /// }
    /// ```
    ///
    /// - Throws: ``StorageError`` with `not-found` for an entity that the store has never had; also as ``Storage`` says.
    public func history<E: RegisteredEntity>(_ type: E.Type, id: E.Id) async throws -> [EntityVersion<E>] {
        let given = [E.Record.key(of: id)]
        let upcasts = snapshots.upcasts
        return try await engine.read { db in
            let connection = try db.connection
            let rows = try HistoricalRows<E.Record>(connection, upcasts: upcasts)
            guard let entity = rows.catalog.entity(named: E.Record.databaseTableName) else {
                throw StorageError.noEntity(E.Record.databaseTableName)
            }
            let log = LogReader(connection)
            let (key, last) = try log.recordedRow(equalTo: given, in: entity)
            var events: [(event: StorageEvent, row: NetRow)] = []
            try log.forEachVersion(from: last ?? 0) { batch, index in
                let row = batch.withView { NetRow($0, event: index) }
                events.append((batch.event(at: index, catalog: rows.catalog), row))
                return true
            }
            var versions: [EntityVersion<E>] = []
            var net: NetRow?
            for (event, row) in events.reversed() {
                let sum = net?.followed(by: row) ?? row
                net = sum
                let entity = Result {
                    sum.exists ? try rows.entity(rows.row(key, of: entity) { sum.new.value(of: $0) }) : nil
                }
                versions.append(EntityVersion(event: event, found: entity))
            }
            return versions
        }
    }
}

/// The state of an entity after an event. It also has the event's properties, such as `version.position` and `version.commit`.
///
/// ```swift
/// for version in try await storage.history(User.self, id: "42") {
///     print(version.operation, version.position, try version.entity?.name ?? "deleted")
/// }
/// ```
@dynamicMemberLookup
public struct EntityVersion<E: StorageKitEntity>: Sendable {
    /// The event: what happened, when and by whom, with the columns that changed.
    public let event: StorageEvent
    fileprivate let found: Result<E?, any Error>

    /// The entity after the event, as its type is declared now; nil if the event deleted it.
    ///
    /// - Throws: `invalid-value` if the type can't represent the row as it was, `schema-mismatch` if a column was converted since and this program
    ///   doesn't declare the conversion.
    public var entity: E? { get throws { try found.get() } }

    public subscript<Value>(dynamicMember path: KeyPath<StorageEvent, Value>) -> Value { event[keyPath: path] }
}

extension EntityVersion: CustomStringConvertible {
    /// The version's event: `@101 t:12 update users/42 name: "Ann" → "Anna"`.
    public var description: String { event.description }
}
