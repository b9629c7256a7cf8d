internal import StorageKit

/// Which engine uses a key in a store: two would send each write twice.
@MainActor
final class SyncEngines {
    static let shared = SyncEngines()

    private struct Key: Hashable {
        let store: ObjectIdentifier
        let manager: String
    }

    private struct User {
        weak var controller: AnyObject?
        let close: @MainActor () async -> Void
    }

    private var users: [Key: User] = [:]

    /// Closes the engine that has used the key before. It opens again when it is used again.
    func takeOver<T>(_ manager: String, in storage: Storage, by controller: SyncController<T>) async {
        let key = Key(store: ObjectIdentifier(storage.engine), manager: manager)
        let before = users[key]
        users[key] = User(controller: controller, close: { [weak controller] in await controller?.close() })
        users = users.filter { $0.value.controller != nil }
        if let other = before?.controller, other !== controller { await before?.close() }
    }
}
