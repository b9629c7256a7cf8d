#if STORAGE_HTTP
    import Foundation
    import StorageEntities
    import StorageHTTP
    import StorageKit
    import StorageSync

    @StorageEntity(table: "errands")
    struct Errand: DataSyncModelProtocol {
        var id: String
        var title: String
        var priority: Int
        var note: String?
    }

    /// The process of RESTKillTests: writes to a REST service through a sync engine until it is killed, and prints the id of each document
    /// once it is stored.
    ///
    /// With the prefix `drain` it writes nothing, and prints `drained` once nothing is pending.
    @MainActor
    enum RESTWriter {
        static func run(store: String, origin: String, prefix: String) async throws {
            let container = try PersistenceContainer.file(at: URL(fileURLWithPath: store)) {
                $0.autoSchema(ErrandRecord.self)
            }
            var rest = RESTConfiguration(origin)
            rest.idempotencyHeader = "Idempotency-Key"
            rest.pollingInterval = .milliseconds(50)
            let engine = withDatabaseContainer(container) {
                CollectionSyncEngine<Errand>(
                    remote: RESTRemoteCollectionService(rest) { "errands" }, managerKey: "errands")
            }
            await engine.startListening()
            if prefix == "drain" {
                while engine.pendingCount > 0 {
                    try await engine.retryNow()
                    try await Task.sleep(for: .milliseconds(20))
                }
                SyncWorker.say("drained")
                return try await Task.sleep(for: .seconds(600))
            }
            for number in 0... {
                let id = "\(prefix)-\(number)"
                try await engine.saveDocument(Errand(id: id, title: "t", priority: number, note: nil))
                SyncWorker.say(id)
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }
#endif
