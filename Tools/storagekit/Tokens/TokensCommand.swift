import ArgumentParser
import Foundation
import StorageKit
import StorageServer

/// `storagekit tokens`: who may use a hub, and for what.
struct TokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens", abstract: "List, create and revoke the tokens of a hub.",
        discussion: """
            A token is shown only once, when it is created: the store's .tokens file has only its hash. Its name is \
            the actor of its holder's commits. A running server applies changes at once.

              storagekit tokens -s hub.sqlite
              storagekit tokens -s hub.sqlite create anna --write notes --read users --expires 90d
              storagekit tokens -s hub.sqlite create acme --write '*' --tenant acme
              storagekit tokens -s hub.sqlite create bob --write notes --where "notes: owner = 'bob' and state <> 'draft'"
              storagekit tokens -s hub.sqlite create ops --admin
              storagekit tokens -s hub.sqlite revoke 3f0c9ab1d2e4f567

            Rows that don't match the condition are invisible to the holder: in responses, counts, streams and \
            writes. To replace a token, create another one with the same name, then revoke the old one.
            """)

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, create, revoke
    }

    @Argument(help: "What to do: \(Action.allCases.map(\.rawValue).joined(separator: ", ")).")
    var action = Action.list

    @Argument(help: "The holder's name for create, the token's id for revoke.")
    var name: String?

    @OptionGroup var store: StoreOption

    @Option(help: "An entity that may be read; '*' for all others. May be repeated.")
    var read: [String] = []

    @Option(help: "An entity that may be read and written; '*' for all others. May be repeated.")
    var write: [String] = []

    @Option(help: "An entity that may be written, but not read. May be repeated.")
    var writeOnly: [String] = []

    @Option(name: .customLong("where"), help: "A condition on rows, as ENTITY: CONDITION. May be repeated.")
    var conditions: [String] = []

    @Option(help: "Only rows of this tenant.")
    var tenant: String?

    @Option(help: "With --tenant: the column with a row's tenant. Default: tenant.")
    var tenantColumn: String?

    @Flag(help: "Allow reading the server's status and metrics.")
    var admin = false

    @Option(help: "When it expires: 12h, 90d.")
    var expires: String?

    @OptionGroup var format: FormatOptions

    func validate() throws {
        let isPlain =
            read.isEmpty && write.isEmpty && writeOnly.isEmpty && conditions.isEmpty && tenant == nil && !admin
            && expires == nil && tenantColumn == nil
        if action != .create, !isPlain { throw ValidationError("Only create takes grants and conditions.") }
        if tenantColumn != nil, tenant == nil { throw ValidationError("--tenant-column requires --tenant.") }
        switch (action, name) {
        case (.create, nil): throw ValidationError("Name who will hold the token.")
        case (.revoke, nil): throw ValidationError("Name the token by its id.")
        default: break
        }
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "tokens")
        // Checks that the store exists: the token file belongs to it. The store may be open in another process.
        try await store.openForReading().close()
        let tokens = try HubTokenFile(besideStore: try store.path())
        switch (action, name) {
        case (.create, let name?): try await create(name, in: tokens)
        case (.revoke, let id?): try await revoke(id, in: tokens)
        default: try await list(tokens)
        }
    }

    private func create(_ name: String, in tokens: HubTokenFile) async throws {
        let grants = try grants()
        let expiry = try expires.map(Self.expiry)
        guard admin || !grants.isEmpty else {
            throw CommandError(.usage, "The token would grant nothing.", next: "Add --read, --write or --admin.")
        }
        let (token, text) = try await tokens.create(
            name: name, grants: grants, tenant: tenant.map { HubTenant($0, column: tenantColumn ?? "tenant") },
            administers: admin, expiresAt: expiry)
        // Without its text the token is of no use.
        try OutputFailure.reporting(
            "The token \(token.id) was created", next: "Type: storagekit tokens revoke \(token.id)"
        ) { try write(token, text) }
    }

    private func write(_ token: HubToken, _ text: String) throws {
        let output = ResultOutput(format)
        if output.format == .human {
            try output.text("\(text)\n")
            if output.width != nil { try output.line("It isn't shown again. Its id is \(token.id).", .dim) }
        } else {
            try output.record(NewTokenRecord(text: text, token: token))
            try output.finish()
        }
        try output.flush()
    }

    private func revoke(_ id: String, in tokens: HubTokenFile) async throws {
        guard let token = try await tokens.revoke(id) else {
            throw CommandError(.notFound, "There is no token \"\(id)\".", next: "Type: storagekit tokens")
        }
        try OutputFailure.reporting("The token was revoked", next: "Type: storagekit tokens") { try write([token]) }
    }

    private func list(_ tokens: HubTokenFile) async throws {
        try write(try await tokens.all().filter { name == nil || $0.name == name })
    }
}

// MARK: Grants

extension TokensCommand {
    private func grants() throws -> [HubGrant] {
        var conditions: [String: String] = [:]
        for text in self.conditions {
            let parts = text.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else {
                throw CommandError(
                    .usage, "The condition \"\(text)\" names no entity.",
                    next: "Write it as --where \"notes: owner = 'anna'\".")
            }
            let entity = String(parts[0])
            guard conditions[entity] == nil else {
                throw CommandError(.usage, "\"\(entity)\" has two conditions.", next: "Join them by and.")
            }
            conditions[entity] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        var grants: [HubGrant] = []
        for (names, reads, writes) in [(read, true, false), (write, true, true), (writeOnly, false, true)] {
            for name in names {
                let entity = name == "*" ? nil : name
                guard !grants.contains(where: { $0.entity == entity }) else {
                    throw CommandError(.usage, "\"\(name)\" is granted twice.", next: "Name it once.")
                }
                do {
                    grants.append(
                        try HubGrant(
                            entity: entity, reads: reads, writes: writes,
                            condition: conditions.removeValue(forKey: name)))
                } catch let error as StorageError {
                    throw CommandError(.usage, error.message, next: error.remedy)
                }
            }
        }
        if let entity = conditions.keys.min() {
            throw CommandError(
                .usage, "\"\(entity)\" has a condition, but isn't granted.", next: "Add --read or --write \(entity).")
        }
        return grants
    }

    private static func expiry(_ text: String) throws -> Date {
        let units: [Character: Double] = ["m": 60, "h": 3_600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int(text.dropLast()),
            (1...100_000).contains(count)
        else {
            // `-1d` arrives as `now-1d`, which options for points in time take.
            let typed = text.hasPrefix("now-") ? text.dropFirst(3) : text[...]
            throw CommandError(
                .usage, "\"\(typed)\" isn't a duration.",
                next: "Write minutes, hours or days: 30m, 12h, 90d.")
        }
        return Date(timeIntervalSinceNow: Double(count) * unit)
    }
}

// MARK: Output

extension TokensCommand {
    private func write(_ tokens: [HubToken]) throws {
        let output = ResultOutput(format)
        if output.format == .human {
            try writeText(tokens, to: output)
        } else {
            for token in tokens { try output.record(TokenRecord(token: token)) }
            try output.finish()
        }
        try output.flush()
    }

    private func writeText(_ tokens: [HubToken], to output: ResultOutput) throws {
        guard !tokens.isEmpty else { return try output.line("There are no tokens.", .dim) }
        var table = TableLayout(
            [.init("id"), .init("name"), .init("grants"), .init("created"), .init("ends")], width: output.width)
        let now = Date()
        for token in tokens {
            table.add([
                TableCell(token.id), TableCell(token.name), TableCell(Self.grants(of: token)),
                TableCell(Timestamp.shown(token.createdAt.microseconds), .dim),
                TableCell(Self.end(of: token), token.isValid(at: now) ? .plain : .removed),
            ])
        }
        try output.lines(table.lines(style: output.style))
    }

    private static func grants(of token: HubToken) -> String {
        var parts = token.grants.map { grant in
            let rights = (grant.reads ? "r" : "") + (grant.writes ? "w" : "")
            return "\(grant.entity ?? "*"):\(rights)" + (grant.condition.map { " where \($0)" } ?? "")
        }
        if let tenant = token.tenant { parts.append("\(tenant.column)=\(tenant.value)") }
        if token.administers { parts.append("admin") }
        return parts.joined(separator: ", ")
    }

    private static func end(of token: HubToken) -> String {
        if let revoked = token.revokedAt { return "revoked \(Timestamp.shown(revoked.microseconds))" }
        return token.expiresAt.map { Timestamp.shown($0.microseconds) } ?? "never"
    }

}
