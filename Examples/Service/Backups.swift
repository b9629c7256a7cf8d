#if STORAGE_SERVER
    import Foundation
    import Hummingbird
    import Logging
    import ServiceLifecycle
    import StorageKit

    /// Copies the store into a folder, every so often and on request.
    struct Backups: Service {
        let storage: Storage
        let folder: URL
        let interval: Duration
        let logger: Logger

        struct Report: ResponseEncodable {
            let file: String
            let commit: Int64
        }

        func run() async throws {
            await cancelWhenGracefulShutdown {
                while (try? await Task.sleep(for: interval)) != nil {
                    do {
                        let report = try await make()
                        logger.info("Backed up commit \(report.commit) to \(report.file)")
                    } catch {
                        // The service goes on; the next backup may have room.
                        logger.error("The backup failed: \(error)")
                    }
                }
            }
        }

        /// Makes a copy, and checks it against its log, while requests go on.
        func make() async throws -> Report {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let time = Int(Date().timeIntervalSince1970 * 1_000)
            let backup = try await storage.backup(to: folder.appending(path: "tickets-\(time).sqlite"))
            return Report(file: backup.path, commit: backup.commit)
        }
    }
#endif
