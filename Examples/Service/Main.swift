#if STORAGE_SERVER
    import Foundation
    import Hummingbird
    import Logging
    import ServiceLifecycle
    import StorageKit
    import StorageLifecycle
    import UnixSignals

    /// `tickets FOLDER PORT`: serves the tickets of a store in a folder.
    @main
    enum Main {
        static func main() async throws {
            let arguments = CommandLine.arguments.dropFirst()
            let folder = URL(filePath: arguments.first ?? "tickets", directoryHint: .isDirectory)
            let port = arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
            var logger = Logger(label: "tickets")
            logger.logLevel = .notice

            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let storage = try StorageKit.start(at: folder.appending(path: "tickets.sqlite")) { schema in
                schema.autoSchema(TicketRecord.self)
            }.facade
            let backups = Backups(
                storage: storage, folder: folder.appending(path: "backups"), interval: .seconds(24 * 60 * 60),
                logger: logger)

            // By its whole name here, because the package of this example has a router of its own.
            let router = Hummingbird.Router()
            router.add(middleware: ErrorMiddleware())
            router.add(middleware: CommitMiddleware())
            TicketRoutes(storage: storage, backups: backups).add(to: router)
            let application = Application(
                router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
                onServerRunning: { channel in
                    let port = channel.localAddress?.port ?? port
                    FileHandle.standardOutput.write(Data("Serving on http://127.0.0.1:\(port)\n".utf8))
                },
                logger: logger)

            // A group ends its services last first: requests are answered, then the store is closed.
            let group = ServiceGroup(
                services: [StorageService(storage), backups, application],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
            try await group.run()
        }
    }
#else
    @main
    enum Main {
        static func main() { print("Build it with the trait Server: swift run --traits Server tickets") }
    }
#endif
