import StorageKit

/// Views that follow a store, by StorageKit.
extension StorageKitContenders {
    static func livePage(_ people: [Person], commits: Int) -> [Contender] {
        [
            follower(ContenderName.unwatched, people) { storage in
                for commit in 0..<commits { try await storage.save(changed(people, commit % 50, commit)) }
            },
            follower(ContenderName.storageKit, people) { storage in
                let page = await QuerySubscription(storage.query(StoredPerson.self).orderBy(\.id).limit(50))
                for commit in 0..<commits {
                    let person = changed(people, commit % 50, commit)
                    await storage.viewsSettled(after: try await storage.save(person))
                    guard await page.items.contains(where: { $0.id == person.id && $0.age == person.age }) else {
                        throw BenchmarkError("The page doesn't show commit \(commit).")
                    }
                }
            },
        ]
    }

    static func liveMany(_ people: [Person], views: Int, commits: Int) -> [Contender] {
        [
            follower(ContenderName.unwatched, people) { storage in
                for commit in 0..<commits { try await storage.save(changed(people, commit % views, commit)) }
            },
            follower(ContenderName.storageKit, people) { storage in
                var rows: [SingleQuerySubscription<StoredPerson>] = []
                for view in 0..<views {
                    let id = people[view].id
                    rows.append(await SingleQuerySubscription(storage.query(StoredPerson.self).where { $0.id == id }))
                }
                for commit in 0..<commits {
                    let person = changed(people, commit % views, commit)
                    await storage.viewsSettled(after: try await storage.save(person))
                    guard await rows[commit % views].item?.age == person.age else {
                        throw BenchmarkError("The row doesn't show commit \(commit).")
                    }
                }
            },
        ]
    }

    private static func changed(_ people: [Person], _ place: Int, _ commit: Int) -> StoredPerson {
        var person = StoredPerson(people[place])
        person.age = Int64(1_000 + commit)
        return person
    }

    private static func follower(
        _ name: String, _ people: [Person], run: @escaping @Sendable (Storage) async throws -> Void
    ) -> Contender {
        Contender(
            name,
            prepare: { workspace in
                let store = try StorageKitStore(workspace.path("storage.sqlite"))
                try await store.storage.save(people.map(StoredPerson.init))
                try await store.storage.seal()
                return store
            },
            run: { store in
                try await run(store.storage)
                return []
            },
            cleanup: { try await $0.close() })
    }
}
