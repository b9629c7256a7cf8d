import Foundation
import StorageServer
import TestSupport
import Testing

/// `storagekit tokens`: what it shows of the tokens of a hub, and what it refuses.
struct TokensCommandTests {
    /// Counts instead: secrets are no part of what is recorded.
    private struct Counter: RandomNumberGenerator {
        var value: UInt64 = 0

        mutating func next() -> UInt64 {
            value += 1
            return value
        }
    }

    @Test("Every token is shown")
    func everyToken() async throws {
        let sample = try await SampleStore()
        func check(_ name: String, _ arguments: String...) throws {
            try GoldenOutputTests.check(GoldenOutputTests.Case(name, arguments: arguments), store: sample.path)
        }
        try check("tokens-none", "tokens")
        let tokens = try HubTokenFile(besideStore: sample.path)
        let now = Date(timeIntervalSince1970: Double(SampleStore.start) / 1_000_000)
        var counter = Counter()
        _ = try await tokens.create(
            name: "anna", grants: [HubGrant(entity: "posts", writes: true), HubGrant(entity: nil)],
            expiresAt: now.addingTimeInterval(86_400), now: now, using: &counter)
        let bob = try await tokens.create(
            name: "bob", grants: [HubGrant(entity: "posts", reads: false, writes: true, condition: "owner = 'bob'")],
            tenant: HubTenant("acme"), now: now.addingTimeInterval(1), using: &counter
        ).token
        _ = try await tokens.create(
            name: "ops", grants: [], administers: true, now: now.addingTimeInterval(2), using: &counter)
        try await tokens.revoke(bob.id, now: now.addingTimeInterval(3))
        try check("tokens", "tokens")
        try TerminalOutputTests.expectLooks(.init("terminal-tokens", arguments: ["tokens"]), in: [sample.folder])
        try check("tokens-named", "tokens", "list", "bob")
        try check("tokens-json", "tokens", "--format", "json")
        try check("tokens-jsonl", "tokens", "--format", "jsonl")
        try check("tokens-unknown", "tokens", "revoke", "0000000000000000")
        try check("tokens-nobody", "tokens", "create")
        try check("tokens-condition", "tokens", "create", "eve", "--write", "posts", "--where", "posts: owner = ")
        try check("tokens-ungranted", "tokens", "create", "eve", "--where", "posts: owner = 'eve'")
        try check("tokens-useless", "tokens", "create", "eve")
        try check("tokens-twice", "tokens", "create", "eve", "--read", "posts", "--write", "posts")
        try check("tokens-expires", "tokens", "create", "eve", "--expires", "soon")
    }

    @Test("A duration is quoted as it was typed")
    func typedDuration() async throws {
        let sample = try await SampleStore()
        let outcome = try ToolProcess.run(["tokens", "create", "eve", "--expires", "-1d"], store: sample.path)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("\"-1d\" isn't a duration"), "\(outcome.errors)")
    }

    @Test("A symbolic link to a store has the store's tokens")
    func symbolicLink() async throws {
        let sample = try await SampleStore()
        let link = sample.folder.path("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: sample.path)
        let made = try ToolProcess.run(["tokens", "create", "anna", "--write", "posts"], store: link)
        let text = made.output.trimmingCharacters(in: .newlines)
        #expect(try await HubTokenFile(besideStore: sample.path).authenticate(text)?.name == "anna")
        #expect(try ToolProcess.run(["tokens"], store: link).output.contains("anna"))
        #expect(!FileManager.default.fileExists(atPath: link + ".tokens"))
    }

    @Test("A token is shown once and expires")
    func tokenIsShownOnce() async throws {
        let sample = try await SampleStore()
        let made = try ToolProcess.run(
            ["tokens", "create", "anna", "--write", "posts", "--expires", "1h"], store: sample.path,
            in: sample.folder.url)
        let text = made.output.trimmingCharacters(in: .newlines)
        let tokens = try HubTokenFile(besideStore: sample.path)
        let token = try #require(try await tokens.authenticate(text))
        let grant = try HubGrant(entity: "posts", writes: true)
        #expect(token.name == "anna")
        #expect(token.grants == [grant])
        let listed = try ToolProcess.run(["tokens"], store: sample.path, in: sample.folder.url)
        #expect(listed.output.contains(token.id))
        #expect(!listed.output.contains(text))
        _ = try ToolProcess.run(["tokens", "revoke", token.id], store: sample.path, in: sample.folder.url)
        #expect(try await tokens.authenticate(text) == nil)
    }
}
