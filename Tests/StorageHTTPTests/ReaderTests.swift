#if STORAGE_HTTP
    import Foundation
    import TestSupport
    import StorageKit
    import StorageSync
    import Testing

    /// The example of the guide, run as its users run it.
    @Suite struct ReaderTests {
        private static let stories = """
            [{"id": 1, "title": "Ships", "points": 3}, {"id": 2, "title": "Shoes", "points": 12}]
            """

        @Test("Stories are read offline once they were fetched")
        func offlineReading() async throws {
            let folder = try TemporaryFolder()
            let store = folder.path("stories.sqlite")
            let origin = try await TestServer.run({ _ in .ok(Self.stories) }) { server in
                let first = try await run(store, server.origin)
                #expect(first.hasPrefix("0 stories, never fetched, stale\n\n2 stories, fetched "))
                #expect(first.hasSuffix("\n  12\tShoes\n  3\tShips\n"))
                #expect(server.requests.count == 1)
                return server.origin
            }
            // Young enough: nobody is asked, and nobody would answer.
            let second = try await run(store, origin)
            #expect(second.hasPrefix("2 stories, fetched "))
            #expect(second.hasSuffix("\n  12\tShoes\n  3\tShips\n"))
            let nobody = try LoopbackSocket()
            defer { withExtendedLifetime(nobody) {} }
            // Later, without a network: the same rows, as stale, and why.
            try await age(store)
            let third = try await run(store, nobody.origin)
            let parts = third.components(separatedBy: "\n\n")
            let error = "\n! The remote of StorySources.best failed: "
            try #require(parts.count == 2)
            #expect(parts[1].hasPrefix(parts[0] + error))
            #expect(parts[0].hasPrefix("2 stories, fetched "))
            #expect(parts[0].hasSuffix(", stale\n  12\tShoes\n  3\tShips"))
            let alone = try await run(folder.path("other.sqlite"), nobody.origin)
            #expect(alone.contains("\n! The remote of StorySources.best failed: "))
        }

        /// Lets more time pass for the rows than their source allows.
        private func age(_ store: String) async throws {
            let storage = try StorageKit.start(at: URL(fileURLWithPath: store)).facade
            try await storage.write {
                try $0.execute("UPDATE query_source_state SET refreshed_at = refreshed_at - 301000000")
            }
            let status = try #require(try await storage.querySourceStatuses().first)
            #expect(status.lastRefresh.map { $0 <= Date(timeIntervalSinceNow: -301) } == true)
            try await storage.close()
        }

        private func run(_ arguments: String...) async throws -> String {
            let process = Process()
            process.executableURL = Self.executable
            process.arguments = arguments
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            return try await withCheckedThrowingContinuation { continuation in
                process.terminationHandler = { _ in
                    let data = output.fileHandleForReading.readDataToEndOfFile()
                    continuation.resume(returning: String(decoding: data, as: UTF8.self))
                }
                do { try process.start() } catch { continuation.resume(throwing: error) }
            }
        }

        /// Beside the tests.
        private static let executable: URL = {
            var folder = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
            while folder.path != "/" {
                folder.deleteLastPathComponent()
                let reader = folder.appendingPathComponent("reader")
                if FileManager.default.isExecutableFile(atPath: reader.path) { return reader }
            }
            return folder
        }()
    }
#endif
