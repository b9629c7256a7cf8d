import Foundation
import TestSupport
import Testing

#if !canImport(SwiftUI)
    /// The sources for SwiftUI are held to their types where there is no SwiftUI, so that they can't rot unseen: compiled
    /// against declarations of what they use of it, together with an example of their users.
    @Suite struct SwiftUISourcesTests {
        private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        private static let root = SwiftCompiler.root

        /// A folder for the modules that the tests make.
        private final class Modules {
            let folder: TemporaryFolder

            init() throws { folder = try TemporaryFolder() }

            /// - Returns: What the compiler says; empty where it has nothing to say.
            func make(_ name: String, of sources: [URL], _ settings: [String] = []) async throws -> String {
                let module = folder.path("\(name).swiftmodule")
                return try await compile(
                    ["-emit-module", "-emit-module-path", module, "-module-name", name] + settings + sources.map(\.path)
                )
            }

            func compile(_ arguments: [String]) async throws -> String {
                try await SwiftCompiler.run(["-I", folder.url.path] + arguments)
            }
        }

        private static let standIn = tests.appendingPathComponent("StandIn")

        /// Makes SwiftUI's declarations a module, and with them one of ours.
        private func make(_ name: String, _ settings: [String] = []) async throws -> Modules {
            let modules = try Modules()
            let declarations = try await modules.make(
                "SwiftUI", of: [Self.standIn.appendingPathComponent("SwiftUI.swift")])
            try #require(declarations.isEmpty, "\(declarations)")
            let sources = Self.root.appendingPathComponent("Sources/\(name)")
            let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter {
                $0.hasSuffix(".swift")
            }
            #expect(!files.isEmpty)
            let features = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault"]
            let messages = try await modules.make(
                name, of: files.map { sources.appendingPathComponent($0) },
                settings + features.flatMap { ["-enable-upcoming-feature", $0] })
            try #require(messages.isEmpty, "\(messages)")
            return modules
        }

        @Test("Fetches fit their types")
        func fetchTypes() async throws {
            // As the package manager names the package: after its folder.
            let package = Self.root.lastPathComponent.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
            let modules = try await make(
                "StorageSQLiteClient", ["-D", "SQLITE_ENGINE_GRDB", "-package-name", String(package)])
            let example = Self.standIn.appendingPathComponent("FetchExample.swift")
            let messages = try await modules.compile(["-typecheck", example.path])
            #expect(messages.isEmpty, "\(messages)")
        }

        @Test("Property wrappers fit their types")
        func wrapperTypes() async throws {
            let modules = try await make("StorageUI")
            let names = ["Example", "QueryExample", "AppExample", "DocumentationExample", "CommentExamples"]
            for name in names.map({ "\($0).swift" }) {
                let example = try await modules.compile(["-typecheck", Self.standIn.appendingPathComponent(name).path])
                #expect(example.isEmpty, "\(name): \(example)")
            }
            let app = Self.root.appendingPathComponent("Examples/App/ChecklistApp.swift")
            let messages = try await modules.compile(["-typecheck", app.path])
            #expect(messages.isEmpty, "the example app: \(messages)")

            // A wrong use is found, so a right one has been looked at.
            let wrong = modules.folder.url.appendingPathComponent("Wrong.swift")
            let text = "import StorageUI\nimport SwiftUI\nlet wrong = { Text(\"\").withSubscriptionLoading(1) }\n"
            try Data(text.utf8).write(to: wrong)
            let refused = try await modules.compile(["-typecheck", wrong.path])
            #expect(refused.contains("error: "))
        }
    }
#endif
