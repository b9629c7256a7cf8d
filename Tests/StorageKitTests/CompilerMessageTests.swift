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

    private static let misspelt = [
        (#"_ = storage.query(User.self).orderBy(\.nmae)"#, "orderBy(_:_:collation:)"),
        (#"_ = storage.query(User.self).orderBy(\.home.cty, .descending).limit(1)"#, "orderBy(_:_:collation:)"),
        (#"_ = storage.query(User.self).orderBy(\.home)"#, "orderBy(_:_:collation:)"),
        (#"_ = try await storage.all(User.self, orderBy: \.nmae)"#, "all(_:orderBy:ascending:)"),
        (
            #"_ = try await storage.page(User.self, orderBy: \.nmae, limit: 1)"#,
            "page(_:orderBy:ascending:limit:offset:)"
        ),
    ]

    private static let missing = "the entity has no stored property of this name, or it fills several columns"

    /// - Returns: The compiler's errors of a file that has the lines, each in a function of its own, after what is right.
    private func errors(_ lines: [String]) async throws -> [Substring] {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("Example.swift")
        let functions = lines.enumerated().map { "func wrong\($0)(_ storage: Storage) async throws { \($1) }" }
        try Data(([Self.source] + functions).joined(separator: "\n").utf8).write(to: file)
        return try await SwiftCompiler.run(["-typecheck", file.path]).split(separator: "\n")
            .filter { $0.hasPrefix(file.path) && $0.contains(" error: ") }
            .map { $0.dropFirst(file.path.count) }
    }

    @Test("A misspelt property is named as such, and right queries compile")
    func misspeltProperty() async throws {
        let first = Self.source.split(separator: "\n", omittingEmptySubsequences: false).count + 1
        let errors = try await errors(Self.misspelt.map(\.0))
        try #require(errors.count == Self.misspelt.count)
        for (error, (number, misspelt)) in zip(errors, Self.misspelt.enumerated()) {
            #expect(error.hasPrefix(":\(first + number):"))
            #expect(error.hasSuffix(" error: '\(misspelt.1)' is unavailable: \(Self.missing)"))
        }
    }
}
