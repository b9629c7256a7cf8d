import ArgumentParser
import StorageKit

/// `storagekit restore-state`: restores tables to an earlier state.
struct RestoreStateCommand: ReversalCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore-state", abstract: "Restore tables or rows to their state at a point.",
        discussion: """
            Writes one commit that inserts, updates and deletes the rows that differ; the history is kept. Without a \
            target, restores every table. If rows of other tables would be deleted too, does nothing unless \
            --on-conflict allows it.

              storagekit restore-state -s app.sqlite -2h users --dry-run
              storagekit restore-state -s app.sqlite t:77 users/42 --reason "restored by request" --yes
            """)

    @Argument(help: "The point: @1234, t:77, a time, -2h.", transform: { try PointArgument($0, now: SystemTime.now) })
    var point: PointArgument

    @Argument(help: "Tables, or one row: users, users/42.", transform: { try TargetArgument($0) })
    var targets: [TargetArgument] = []

    @OptionGroup var store: StoreOption
    @OptionGroup var conflicts: ConflictOption
    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if targets.count > 1, targets.contains(where: { $0.id != nil }) {
            throw ValidationError("Restore one row at a time, or whole tables.")
        }
    }

    func reversalRun() async throws -> ReversalRun {
        let command = self
        let (position, tables, key) = try await store.read { store in
            let position = try store.position(toRestore: command.point) { point in
                let words = [point] + command.targets.map { "\($0)" }
                return "storagekit restore-state --dry-run \(words.quotedAsOperands)"
            }
            let names = EntityNames(store)
            if let row = command.targets.first, row.id != nil {
                _ = try names.users(named: row.table)
                let found = try store.row(row)
                // What looks like a column may be a part of the key.
                guard found.column == nil else {
                    throw CommandError(
                        .usage, "Only whole rows can be restored: omit the column.",
                        next: "Type: storagekit restore-state --help")
                }
                return (position, [found.entity.name], [found.key])
            }
            let tables = try command.targets.map { target in
                guard let entity = try names.users(named: target.table).first, !entity.isDropped else {
                    throw CommandError(
                        .notFound,
                        "The table \"\(target.table)\" was dropped; only existing tables can be restored.",
                        next: "Its rows can be read: storagekit at \(command.point)")
                }
                return entity.name
            }
            return (position, tables, [])
        }
        return reversal("Restore the state of @\(position)") { storage, policy, metadata, isDryRun in
            try await storage.engine.restore(
                tables, key: key.first, to: .position(position), policy: policy, metadata: metadata, isDryRun: isDryRun)
        }
    }
}
