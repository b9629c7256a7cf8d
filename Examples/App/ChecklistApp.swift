import Foundation
import StorageKit
import StorageUI
import SwiftUI

/// Something to do.
@StorageEntity
struct Chore: Identifiable {
    var id: String
    var title: String
    var isDone: Bool
}

/// A checklist that follows its store, and takes back what was done.
@main
struct ChecklistApp: App {
    /// The app can't do anything without its store, so it ends with the reason where there is none.
    private let container = try! PersistenceContainer.file(
        at: URL(fileURLWithPath: "checklist.sqlite")
    ) { schema in
        schema.autoSchema(ChoreRecord.self)
    }

    var body: some Scene {
        WindowGroup { Checklist(container.storage) }
    }
}

struct Checklist: View {
    private let storage: Storage
    @QuerySubscribe<Chore> private var chores: [Chore]

    init(_ storage: Storage) {
        self.storage = storage
        _chores = QuerySubscribe(storage.query(Chore.self).orderBy(\.title))
    }

    var body: some View {
        VStack {
            List(chores) { chore in
                Button {
                    toggle(chore)
                } label: {
                    Text(chore.isDone ? "✓ " + chore.title : chore.title)
                }
            }
            .withSubscriptionLoading($chores)
            .withSubscriptionError($chores) { Task { await $chores.refresh() } }
            Button("Undo") { perform { _ = try await $0.undo(of: "me", reason: "undo") } }
            Button("Redo") { perform { _ = try await $0.redo(of: "me", reason: "redo") } }
        }
    }

    private func toggle(_ chore: Chore) {
        perform { storage in
            try await storage.write(actor: "me", reason: chore.isDone ? "not done yet" : "done") { tx in
                var chore = chore
                chore.isDone.toggle()
                try tx.save(chore)
            }
        }
    }

    private func perform(_ change: @escaping @Sendable (Storage) async throws -> Void) {
        Task {
            do {
                try await change(storage)
            } catch {
                // Such as nothing to undo.
                print(error)
            }
        }
    }
}
