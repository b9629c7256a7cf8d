internal import Crypto
public import Foundation
internal import GRDB
internal import StorageCore
internal import StorageLog
internal import StorageSync

/// The tokens of a hub, in a separate file beside the store: `app.sqlite.tokens` for `app.sqlite`.
///
/// ```swift
/// let tokens = try HubTokenFile(besideStore: "app.sqlite")
/// let (token, text) = try await tokens.create(name: "ada", grants: [try HubGrant(entity: nil, writes: true)])
/// print("give this to Ada:", text)
/// try await tokens.revoke(token.id)
/// ```
///
/// The separate file allows creating and revoking tokens while the server uses the store. It isn't part of the store's
/// backups; copy it with them, or create new tokens after restoring one.
///
/// A secret is 32 random bytes, of which only the SHA-256 is stored: unlike passwords, such secrets can't be guessed
/// from their hashes.
///
/// Isolation: `Sendable`; may be used from anywhere, including several processes.
public struct HubTokenFile: Sendable {
    private let queue: DatabaseQueue

    /// Opens the tokens of a store, or creates the file.
    ///
    /// - Parameter store: The store's file, or `:memory:` for tokens that are lost when the process ends.
    /// - Throws: `StorageError` with `io-error` if the file can't be opened, or belongs to another program.
    public init(besideStore store: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.label = "tokens"
        do {
            if store == ":memory:" {
                queue = try DatabaseQueue(configuration: configuration)
            } else {
                let path = Self.path(besideStore: store)
                // SQLite would create the file with the process's default mode.
                if !FileManager.default.fileExists(atPath: path) {
                    // If that fails, opening it reports the reason.
                    _ = FileManager.default.createFile(
                        atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
                }
                queue = try DatabaseQueue(path: path, configuration: configuration)
            }
            try queue.write { try Self.create(in: $0) }
        } catch let error as DatabaseError {
            throw StorageError(
                .ioError, "The tokens can't be opened: \(error.message ?? "\(error.resultCode)").",
                remedy:
                    "Make sure that \(Self.path(besideStore: store)) can be written to, and is no other program's file."
            )
        }
    }

    /// Returns the path of a store's tokens. Symbolic links to a store are followed, so it has one such file.
    public static func path(besideStore store: String) -> String { StoreFileCheck.resolved(store) + ".tokens" }

    private static let applicationID: Int64 = 0x534B_544B

    private static func create(in db: Database) throws {
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        let id = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        if tables > 0, id != applicationID {
            throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "it isn't a file of tokens")
        }
        if id != applicationID { try db.execute(sql: "PRAGMA application_id = \(applicationID)") }
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS tokens (
                  id TEXT PRIMARY KEY, hash BLOB NOT NULL, name TEXT NOT NULL, grants TEXT NOT NULL, tenant TEXT,
                  administers INTEGER NOT NULL, created REAL NOT NULL, expires REAL, revoked REAL
                ) STRICT
                """)
    }
}

// MARK: Making and revoking

extension HubTokenFile {
    /// Creates a token.
    ///
    /// - Parameters:
    ///   - name: The holder's name, which becomes the actor of its commits.
    ///   - expiresAt: When the token expires; nil for never.
    /// - Returns: The token, and its text, which can't be retrieved later.
    /// - Throws: `StorageError` with `invalid-name` for a name that is empty or too long, or contains `/` or a control
    ///   character; errors of the file.
    public func create(
        name: String, grants: [HubGrant], tenant: HubTenant? = nil, administers: Bool = false, expiresAt: Date? = nil,
        now: Date = Date()
    ) async throws -> (token: HubToken, text: String) {
        var generator = SystemRandomNumberGenerator()
        return try await create(
            name: name, grants: grants, tenant: tenant, administers: administers, expiresAt: expiresAt, now: now,
            using: &generator)
    }

    /// - Parameter generator: Must be unpredictable, except in tests.
    package func create(
        name: String, grants: [HubGrant], tenant: HubTenant? = nil, administers: Bool = false, expiresAt: Date? = nil,
        now: Date, using generator: inout some RandomNumberGenerator
    ) async throws -> (token: HubToken, text: String) {
        guard (1...200).contains(name.utf8.count), !name.contains("/"),
            !name.unicodeScalars.contains(where: \.isControl)
        else {
            throw StorageError(
                .invalidName, "A token can't have the name \(name.debugDescription).",
                remedy: "Use the holder's name: up to 200 bytes without / and control characters.")
        }
        let id = Hexadecimal.text(Self.random(8, using: &generator))
        let secret = Hexadecimal.text(Self.random(32, using: &generator))
        let token = HubToken(
            id: id, name: name, grants: grants, tenant: tenant, administers: administers,
            createdAt: now.asStored, expiresAt: expiresAt?.asStored, revokedAt: nil)
        let grantsText = try Self.encoded(grants)
        let tenantText = try tenant.map { try Self.encoded($0) }
        try await queue.write { db in
            try db.execute(
                sql: "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                arguments: [
                    id, Self.hash(secret), name, grantsText, tenantText, administers, now.timeIntervalSince1970,
                    expiresAt?.timeIntervalSince1970,
                ])
        }
        return (token, Self.prefix + id + "_" + secret)
    }

    /// Returns all tokens, including those that aren't accepted any more, sorted by creation time.
    ///
    /// - Throws: Errors of the file.
    public func all() async throws -> [HubToken] {
        try await queue.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM tokens ORDER BY created, id").map(Self.token)
        }
    }

    /// Revokes a token immediately: the next request with it is refused, and streams with it end within seconds.
    ///
    /// - Returns: The token; nil if there is none with the id. Revoking it again has no effect.
    /// - Throws: Errors of the file.
    @discardableResult
    public func revoke(_ id: String, now: Date = Date()) async throws -> HubToken? {
        try await queue.write { db in
            try db.execute(
                sql: "UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL",
                arguments: [now.timeIntervalSince1970, id])
            return try Row.fetchOne(db, sql: "SELECT * FROM tokens WHERE id = ?", arguments: [id]).map(Self.token)
        }
    }

    /// The token for a text, if it is accepted now.
    ///
    /// - Complexity: One look-up by key. The hashes are compared in constant time.
    package func authenticate(_ text: String, now: Date = Date()) async throws -> HubToken? {
        guard text.utf8.count == Self.prefix.utf8.count + 16 + 1 + 64, text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let (id, secret) = (String(parts[0]), String(parts[1]))
        return try await queue.read { db in
            let statement = try db.cachedStatement(sql: "SELECT * FROM tokens WHERE id = ?")
            guard let row = try Row.fetchOne(statement, arguments: [id]),
                Self.areEqual(row["hash"], Self.hash(secret))
            else { return nil }
            let token = try Self.token(row)
            return token.isValid(at: now) ? token : nil
        }
    }

    /// - Throws: ``HubProblem`` if a token that was accepted before isn't any more.
    func check(_ token: HubToken) async throws {
        guard try await isValid(token) else {
            throw HubProblem(.unauthorized, "The token has expired, or was revoked.")
        }
    }

    /// Whether a token that was accepted before still is.
    func isValid(_ token: HubToken, now: Date = Date()) async throws -> Bool {
        guard token.isValid(at: now) else { return false }
        return try await queue.read { db in
            // Checked for each page of a stream; nothing else of a token ever changes.
            let statement = try db.cachedStatement(sql: "SELECT 1 FROM tokens WHERE id = ? AND revoked IS NULL")
            return try Bool.fetchOne(statement, arguments: [token.id]) ?? false
        }
    }

    private static let prefix = "sk_"

    private static func random(_ count: Int, using generator: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private static func hash(_ secret: String) -> Data { Data(SHA256.hash(data: Data(secret.utf8))) }

    private static func areEqual(_ left: Data, _ right: Data) -> Bool {
        left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func encoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private static func token(_ row: Row) throws -> HubToken {
        let date = { (seconds: Double?) in seconds.map { Date(timeIntervalSince1970: $0) } }
        let tenant: String? = row["tenant"]
        return HubToken(
            id: row["id"], name: row["name"],
            grants: try JSONDecoder().decode([HubGrant].self, from: Data((row["grants"] as String).utf8)),
            tenant: try tenant.map { try JSONDecoder().decode(HubTenant.self, from: Data($0.utf8)) },
            administers: row["administers"], createdAt: Date(timeIntervalSince1970: row["created"]),
            expiresAt: date(row["expires"]), revokedAt: date(row["revoked"]))
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control || properties.generalCategory == .format }
}

extension Date {
    /// Rounded as in the file: seconds since 1970 are coarser than those since 2001.
    fileprivate var asStored: Date { Date(timeIntervalSince1970: timeIntervalSince1970) }
}
