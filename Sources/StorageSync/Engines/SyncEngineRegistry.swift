internal import StorageKit

/// Tracks which engine uses a key in a store: two engines would send each write twice.
@MainActor
final class SyncEngineRegistry {
    static let shared = SyncEngineRegistry()

    private struct Key: Hashable {
        let store: ObjectIdentifier
        let manager: String
    }

    private struct User {
        weak var controller: AnyObject?
        let close: @MainActor () async -> Void
        let isOpen: @MainActor () -> Bool
    }

    /// The remote service that was sent to last.
    private struct Sender {
        weak var remote: AnyObject?
        let push: @MainActor () async -> SyncPush?
    }

    private var users: [Key: User] = [:]
    private var senders: [Key: Sender] = [:]
    /// Keys for which an engine is being opened, with those waiting to open the next one.
    private var openings: [Key: [CheckedContinuation<Void, Never>]] = [:]

    private func key(_ manager: String, in storage: Storage) -> Key {
        Key(store: ObjectIdentifier(storage.engine), manager: manager)
    }

    /// Opens an engine; the engines of a key open one after another. The previous engine of the key is closed first; it
    /// reopens when it is used again.
    func open<T>(
        _ manager: String, in storage: Storage, by controller: SyncController<T>,
        _ body: @MainActor (_ push: SyncPush?) async throws -> SyncScope<T>
    ) async throws -> SyncScope<T> {
        let key = key(manager, in: storage)
        if openings[key] == nil {
            openings[key] = []
        } else {
            await withCheckedContinuation { openings[key]?.append($0) }
        }
        defer {
            if openings[key]?.isEmpty ?? true { openings[key] = nil } else { openings[key]?.removeFirst().resume() }
        }
        let before = users[key]
        users[key] = User(
            controller: controller, close: { [weak controller] in await controller?.close() },
            isOpen: { [weak controller] in controller?.isOpen ?? false })
        users = users.filter { $0.value.controller != nil }
        if let other = before?.controller, other !== controller { await before?.close() }
        let scope = try await body(await senders[key]?.push())
        senders = senders.filter { $0.value.remote != nil }
        if case .service(let remote) = scope.remote {
            senders[key] = Sender(remote: remote, push: { [weak remote] in await remote?.lastPush })
        }
        return scope
    }

    /// Whether another engine uses a key now.
    func isUsed<T>(_ manager: String, in storage: Storage, byOtherThan controller: SyncController<T>) -> Bool {
        guard let user = users[key(manager, in: storage)], let other = user.controller else { return false }
        return other !== controller && user.isOpen()
    }
}
