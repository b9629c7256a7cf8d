#if STORAGE_HTTP
    import Foundation
    import Testing

    /// The example of the guide, run as its users run it.
    @Suite struct ReaderTests {
        private static let stories = """
            [{"id": 1, "title": "Ships", "points": 3}, {"id": 2, "title": "Shoes", "points": 12}]
            """

        @Test func storiesAreReadOfflineOnceTheyWereFetched() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("reader-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let store = folder.appendingPathComponent("stories.sqlite").path
            let origin = try await TestServer.run({ _ in .ok(Self.stories) }) { server in
                let first = try await run(store, server.origin)
                #expect(first.hasPrefix("0 stories, never fetched, stale\n\n2 stories, fetched "))
                #expect(first.hasSuffix("\n  12\tShoes\n  3\tShips\n"))
                #expect(server.requests.count == 1)
                return server.origin
            }
            // Young enough: nobody is asked, and nobody would answer.
            let second = try await run(store, origin)
            #expect(second.hasPrefix("2 stories, fetched ") && second.hasSuffix("\n  12\tShoes\n  3\tShips\n"))
            let nobody = try LoopbackSocket()
            defer { withExtendedLifetime(nobody) {} }
            let alone = try await run(folder.appendingPathComponent("other.sqlite").path, nobody.origin)
            #expect(alone.contains("\n! The remote of StorySources.best failed: "))
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
                do { try process.run() } catch { continuation.resume(throwing: error) }
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
