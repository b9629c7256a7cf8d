internal import Synchronization

/// The tables of record types, their SQL put together once.
package enum EntityTableCache {
    private static let known = Mutex<[ObjectIdentifier: any Sendable]>([:])

    package static func of<Record: StorageKitEntityRecord>(_ type: Record.Type) -> EntityTable<Record> {
        let key = ObjectIdentifier(type)
        return known.withLock { known in
            if let table = known[key] as? EntityTable<Record> { return table }
            let table = EntityTable(type)
            known[key] = table
            return table
        }
    }
}
