import Foundation
import TestSupport
import Testing

/// What the compiler says of mistakes in queries: one error for each, which names what is wrong, where it is.
@Suite struct CompilerMessageTests {
    private static let source = """
        import StorageKit

        @StorageEntity struct User {
            var id: Int
            var name: String
            @StorageEmbedded var home: Address
        }

        struct Address: Embeddable {
            var city: String
        }

        func right(_ storage: Storage) async throws {
            _ = storage.query(User.self).where { $0.name == "a" }.orderBy(\\.name).orderBy(\\.home.city, .descending)
            _ = storage.query(User.self).orderBy("name").orderBy(\\UserRecord.Columns.id)
            _ = try await storage.all(User.self, orderBy: \\.name)
            _ = try await storage.page(User.self, orderBy: "name", limit: 1)
        }
        """

    /// - Returns: The lines of the compiler's errors, without the file's name.
    private func errors(_ line: String) async throws -> [String] {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("Example.swift")
        let body = "func wrong(_ storage: Storage) async throws { \(line) }"
        try Data("\(Self.source)\n\(body)\n".utf8).write(to: file)
        let said = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<String, any Error>) in
            // On a thread of its own: those of tasks are few, and other tests wait for them.
            Thread.detachNewThread {
                continuation.resume(with: Result { try SwiftCompiler.run(["-typecheck", file.path]) })
            }
        }
        return said.split(separator: "\n")
            .filter { $0.hasPrefix(file.path) && $0.contains(" error: ") }
            .map { String($0[($0.range(of: "error: ")?.upperBound ?? $0.startIndex)...]) }
    }

    @Test("Right queries compile")
    func rightQueries() async throws { #expect(try await errors("") == []) }

    private static let missing = "the entity has no stored property of this name, or it fills several columns"

    @Test(
        "A misspelt property is named as such",
        arguments: [
            (#"_ = storage.query(User.self).orderBy(\.nmae)"#, "orderBy(_:_:collation:)"),
            (#"_ = storage.query(User.self).orderBy(\.home.cty, .descending).limit(1)"#, "orderBy(_:_:collation:)"),
            (#"_ = storage.query(User.self).orderBy(\.home)"#, "orderBy(_:_:collation:)"),
            (#"_ = try await storage.all(User.self, orderBy: \.nmae)"#, "all(_:orderBy:ascending:)"),
            (
                #"_ = try await storage.page(User.self, orderBy: \.nmae, limit: 1)"#,
                "page(_:orderBy:ascending:limit:offset:)"
            ),
        ])
    func misspeltProperty(line: String, call: String) async throws {
        #expect(try await errors(line) == ["'\(call)' is unavailable: \(Self.missing)"])
    }
}
