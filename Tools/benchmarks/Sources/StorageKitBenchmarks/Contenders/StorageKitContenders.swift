import Foundation
import StorageKit

enum StorageKitContenders {
    static func saveMany(_ people: [Person]) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit, prepare: { try StorageKitStore($0.path("storage.sqlite")) },
                run: { store in
                    try await store.storage.save(people.map(StoredPerson.init))
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
                    return []
                }, cleanup: { try await $0.close() })
        ]
    }

    static func saveOneByOne(_ people: [Person]) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit, prepare: { try StorageKitStore($0.path("storage.sqlite")) },
                run: { store in
                    for person in people { try await store.storage.save(StoredPerson(person)) }
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
                    return store
                },
                run: { store in
                    _ = try await store.storage.all(StoredPerson.self)
                    return []
                }, cleanup: { try await $0.close() })
        ]
    }

    static func importHistory(_ jsonLines: URL) -> [Contender] { [] }

    static func rebuild(_ people: [Person]) -> [Contender] {
        [
            Contender(
                ContenderName.storageKit,
                prepare: { workspace in
                    let store = try StorageKitStore(workspace.path("storage.sqlite"))
                    try await store.storage.save(people.map(StoredPerson.init))
                    return store
                },
                run: { store in
                    try await store.storage.rebuild()
                    return []
                }, cleanup: { try await $0.close() })
        ]
    }

    static func logSize(rows: Int, updates: Int) -> [Contender] { [] }
    static func replay(_ log: LargeLog) -> [Contender] { [] }
    static func rowHistory(_ log: LargeLog, lookUps: Int) -> [Contender] { [] }
    static func open(_ log: LargeLog) -> [Contender] { [] }
    static func peakMemory(_ log: LargeLog) -> [Contender] { [] }
    static func asOf(rows: Int, events: Int) -> [Contender] { [] }
}
