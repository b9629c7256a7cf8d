import Foundation
import StorageKit

enum StorageKitContenders {
    static func saveMany(_ people: [Person]) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit, prepare: { try StorageKitStore($0.path("storage.sqlite")) },
                run: { store in
                    try await store.storage.save(people.map(StoredPerson.init))
                    // Work that would be put off to the background.
                    try await store.storage.seal()
                    return []
                }, cleanup: { try await $0.close() })
        ]
    }

    static func saveConcurrently(_ people: [Person]) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit, prepare: { try StorageKitStore($0.path("storage.sqlite")) },
                run: { store in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for person in people {
                            group.addTask { try await store.storage.save(StoredPerson(person)) }
                        }
                        try await group.waitForAll()
                    }
                    // Work that would be put off to the background, as in all that save.
                    try await store.storage.seal()
                    return []
                }, cleanup: { try await $0.close() })
        ]
    }

    /// - Parameter path: A store into a copy of which they are saved; into an empty one where there is none.
    static func saveOneByOne(_ people: [Person], intoCopyOf path: String? = nil) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit,
                prepare: { try StorageKitStore(path.map($0.copy) ?? $0.path("storage.sqlite")) },
                run: { store in
                    for person in people { try await store.storage.save(StoredPerson(person)) }
                    try await store.storage.seal()
                    return []
                }, cleanup: { try await $0.close() })
        ]
    }

    static func readAll(_ people: [Person]) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit,
                prepare: { workspace in
                    let store = try StorageKitStore(workspace.path("storage.sqlite"))
                    try await store.storage.save(people.map(StoredPerson.init))
                    // Sealing in the background would be measured along.
                    try await store.storage.seal()
                    return store
                },
                run: { store in
                    _ = try await store.storage.all(StoredPerson.self)
                    return []
                }, cleanup: { try await $0.close() })
        ]
    }

    /// The command-line tool as a process; its CPU counts, reading and parsing included.
    static func importHistory(_ jsonLines: URL) -> [Contender] {
        guard let tool = StorageKitTool.found else { return [] }
        return [
            Contender(
                ContenderName.storageKit, prepare: { $0.path("storage.sqlite") },
                run: { path in
                    try tool.run(["import", "--quiet", "-s", path, jsonLines.path])
                    return []
                })
        ]
    }

    /// - Parameter path: A store that is copied, so that each round begins with the same file.
    static func rebuild(storeAt path: String) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit,
                prepare: { try StorageKit.start(at: URL(fileURLWithPath: $0.copy(of: path))).facade },
                run: { storage in
                    try await storage.rebuild()
                    return []
                }, cleanup: { try await $0.close() })
        ]
    }

    static func rebuild(_ people: [Person]) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit,
                prepare: { workspace in
                    let store = try StorageKitStore(workspace.path("storage.sqlite"))
                    try await store.storage.save(people.map(StoredPerson.init))
                    // Sealing in the background would be measured along.
                    try await store.storage.seal()
                    return store
                },
                run: { store in
                    try await store.storage.rebuild()
                    return []
                }, cleanup: { try await $0.close() })
        ]
    }
}
