import Foundation
import TestSupport
import Testing

@testable import StorageLog
@testable import StorageViews

/// Something that happens at one moment after the other of what an engine does, each time with a store of its own.
enum Moments {
    struct Run {
        let store: StorageEngine
        let source: InterruptedSource
        let engine: SubscriptionEngine
        /// Counted from 0; to be armed when the moments of interest begin.
        let moment: Int

        func arm() { source.arm(moment) }
    }

    /// Views must be what the database answers, whenever it happens.
    ///
    /// - Parameters:
    ///   - fill: Makes the store's rows.
    ///   - interruption: What happens.
    ///   - body: What is interrupted.
    /// - Returns: How many moments there are.
    static func each(
        filling fill: (StorageEngine) async throws -> Void,
        interruption: @escaping @Sendable (StorageEngine, Int) throws -> Void,
        _ body: (Run) async throws -> [ListOracle]
    ) async throws -> Int {
        for moment in 0..<40 {
            let happened = try await RoutedStore.onDisk { store in
                try await fill(store)
                let source = InterruptedSource(store) {
                    do {
                        try interruption(store, moment)
                    } catch {
                        Issue.record(error)
                    }
                }
                let run = Run(store: store, source: source, engine: SubscriptionEngine(source), moment: moment)
                let lists = try await body(run)
                await run.engine.catchUp()
                let happened = source.hasHappened
                await run.engine.catchUp()
                let faults = try await store.read { db in try lists.compactMap { try $0.fault(db) } }
                #expect(faults.isEmpty, "moment \(moment): \(faults)")
                return happened
            }
            if !happened { return moment }
        }
        Issue.record("There is no end of moments.")
        return 0
    }
}

extension RoutedStore {
    /// A store in a file, which is gone afterwards.
    static func onDisk<Result>(_ body: (StorageEngine) async throws -> Result) async throws -> Result {
        let folder = try TemporaryFolder()
        let store = try await open(path: folder.path("s.sqlite")) { _ in }
        let result = try await body(store)
        try await store.close()
        return result
    }
}
