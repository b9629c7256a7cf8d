internal import Foundation
internal import StorageCore
internal import StorageEntities
internal import StorageLog
internal import Synchronization

/// Recently read entities of one type, each kept until its row changes.
///
/// Commits of this process invalidate it, whatever made them: the rows of each durable transaction are reported before the
/// writer goes on, so a read that begins after a write has returned never finds the value from before it.
///
/// Isolation: `Sendable`, its state behind a mutex that is never held across a suspension.
final class EntityCache<E: RegisteredEntity>: Sendable {
    private struct Entry: Sendable {
        let entity: E
        let expires: Date?
    }

    private struct State: Sendable {
        var entries: LeastRecentlyUsed<[UInt8], Entry>
        /// The number of changes to rows of this type; a value that was read before a change isn't kept after it.
        var changes = 0
        var observation: StorageObservation?
    }

    private let state: Mutex<State>
    private let ttl: Double
    private let clock: any StorageClock

    init(_ engine: StorageEngine, config: StorageConfig) {
        state = Mutex(State(entries: LeastRecentlyUsed(capacity: config.memoryCapacity)))
        ttl = config.defaultTTL.seconds
        clock = config.clock
        let name = E.Record.databaseTableName
        let observation = engine.observers.add { [weak self] events in
            let keys = events.keys(of: name)
            if !keys.isEmpty { self?.invalidate(keys) }
        }
        state.withLock { $0.observation = observation }
    }

    private func invalidate(_ keys: Set<[UInt8]>) {
        state.withLock { state in
            state.changes += 1
            for key in keys { state.entries.remove(key) }
        }
    }

    private static func key(_ id: E.Id) -> [UInt8] { KeyCoding.encodeNumerically([E.Record.key(of: id)]) }

    func get(_ id: E.Id) -> E? {
        let now = clock.now
        let key = Self.key(id)
        return state.withLock { state in
            guard let entry = state.entries.value(for: key) else { return nil }
            if let expires = entry.expires, expires <= now {
                state.entries.remove(key)
                return nil
            }
            return entry.entity
        }
    }

    /// The version to take before a read whose result is to be kept.
    var version: Int { state.withLock { $0.changes } }

    /// Keeps what was read, unless a row of this type has changed since `version` was taken.
    func keep(_ entity: E, readAfter version: Int) {
        let expires = ttl > 0 ? clock.now.addingTimeInterval(ttl) : nil
        let key = Self.key(entity.id)
        state.withLock { state in
            guard state.changes == version else { return }
            state.entries.set(Entry(entity: entity, expires: expires), for: key)
        }
    }

    func removeAll() { state.withLock { $0.entries.removeAll() } }
}

/// The caches of a store, one for each type that a repository was asked for.
final class EntityCaches: Sendable {
    private let caches = Mutex<[ObjectIdentifier: any Sendable]>([:])

    func of<E: RegisteredEntity>(_ type: E.Type, in engine: StorageEngine) -> EntityCache<E> {
        caches.withLock { caches in
            let key = ObjectIdentifier(type)
            if let cache = caches[key] as? EntityCache<E> { return cache }
            let cache = EntityCache<E>(engine, config: engine.configuration)
            caches[key] = cache
            return cache
        }
    }
}
