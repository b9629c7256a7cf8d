import ArgumentParser
import Foundation
import StorageCore

/// The store that a command works on: `-s`, `--store`, or the environment.
struct StoreOption: ParsableArguments {
    static let environmentKey = "STORAGEKIT_STORE"

    @Option(name: [.short, .long], help: "The store's file. Default: \(StoreOption.environmentKey).")
    var store: String?

    init() {}

    /// The path of the store.
    func path(environment: [String: String] = ProcessInfo.processInfo.environment) throws(CommandError) -> String {
        if let store {
            // The environment would name another store than the variable that was meant to be there.
            guard !store.isEmpty else {
                throw CommandError(
                    .usage, "The name of the store is empty.", why: "A variable that isn't set may have been meant.",
                    next: "Write the store's path, or leave the option out to use \(Self.environmentKey).")
            }
            return store
        }
        if let store = environment[Self.environmentKey], !store.isEmpty { return store }
        let found = Self.storesHere()
        let verb = found.count == 1 ? "is" : "are"
        throw CommandError(
            .usage, "No store is named.", why: "Neither --store nor \(Self.environmentKey) is given.",
            next: found.isEmpty
                ? "Add -s PATH, or type: export \(Self.environmentKey)=PATH"
                : "Here \(verb) \(Suggestions.list(found)): add -s \(found[0].quotedAsShellWord)")
    }

    /// The files in this folder that look like stores, likeliest first: those that a program writes to, which have a `.bell` file, most recently
    /// changed first. The rest are copies or new files; a copy is younger than its original, so of them the oldest is first.
    private static func storesHere() -> [String] {
        let names = Set((try? FileManager.default.contentsOfDirectory(atPath: ".")) ?? [])
        func changed(_ name: String) -> Date {
            let attributes = try? FileManager.default.attributesOfItem(atPath: name)
            return attributes?[.modificationDate] as? Date ?? .distantPast
        }
        let stores = names.filter { $0.hasSuffix(".sqlite") }.sorted()
        let written = stores.filter { names.contains($0 + ".bell") }
            .map { (name: $0, time: max(changed($0), changed($0 + "-wal"))) }
        let others = stores.filter { !names.contains($0 + ".bell") }.map { (name: $0, time: changed($0)) }
        return written.sorted { $0.time > $1.time }.map(\.name) + others.sorted { $0.time < $1.time }.map(\.name)
    }
}
