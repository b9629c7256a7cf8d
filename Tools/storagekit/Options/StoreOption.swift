import ArgumentParser
import Foundation

/// Which store a command works on: `-s`, `--store`, or the environment.
struct StoreOption: ParsableArguments {
    static let environmentKey = "STORAGEKIT_STORE"

    @Option(name: [.short, .long], help: "The store's file. Default: \(StoreOption.environmentKey).")
    var store: String?

    init() {}

    /// The path of the store.
    func path(environment: [String: String] = ProcessInfo.processInfo.environment) throws(CommandError) -> String {
        if let store, !store.isEmpty { return store }
        if let store = environment[Self.environmentKey], !store.isEmpty { return store }
        let found = Self.storesHere()
        throw CommandError(
            .usage, "No store is named.", why: "Neither --store nor \(Self.environmentKey) is given.",
            next: found.isEmpty
                ? "Add -s PATH, or type: export \(Self.environmentKey)=PATH"
                : "Here is \(Suggestions.list(found)): add -s \(found[0])")
    }

    /// The files of this folder that look like stores, by their names.
    private static func storesHere() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: ".")) ?? []
        return names.filter { $0.hasSuffix(".sqlite") }.sorted()
    }
}
