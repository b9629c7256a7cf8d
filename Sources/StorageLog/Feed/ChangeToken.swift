internal import StorageCore

/// The progress of a reader of changes: where to resume, also in another process and after a restart.
///
/// ```swift
/// let page = try await storage.changes(since: token, limit: 100)
/// try Data(page.next.text.utf8).write(to: file)
/// ```
///
/// It names a position together with the commit there, its time and the lineage of the store, so that a token of another store,
/// or of a history that was replaced since, is refused instead of skipping changes. In a copy of the store (a backup) it is valid
/// for the history that both share.
public struct ChangeToken: Sendable, Hashable, Codable {
    /// The last position that was read.
    public let position: Int64
    let commit: Int64
    let time: Int64
    /// The id of the lineage's line that the position belongs to.
    private let line: [UInt8]

    init(_ head: LogHead, _ lineage: StoreLineage) {
        self.init(head, line: lineage.line(of: head.position).id)
    }

    private init(_ head: LogHead, line: [UInt8]) {
        position = head.position
        commit = head.commit
        time = head.time
        self.line = line
    }

    /// Creates the token with this ``text``.
    ///
    /// - Throws: `invalid-argument` for a text that isn't a token.
    public init(text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.prefix(3).map { Int64($0) }
        guard parts.count == 4, let position = numbers[0], let commit = numbers[1], let time = numbers[2],
            position >= 0, commit >= 0, let line = Self.bytes(of: parts[3])
        else {
            throw StorageError(
                .invalidArgument, "This text isn't a token of changes.",
                remedy: "Pass the text of a page's `next` or of a change's `token` unchanged.")
        }
        self.init(LogHead(position: position, commit: commit, time: time), line: line)
    }

    /// The token as opaque text of letters, digits, points and minus signs.
    public var text: String {
        let digits = Array("0123456789abcdef".utf8)
        let id = line.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "\(position).\(commit).\(time)." + String(decoding: id, as: UTF8.self)
    }

    private static func bytes(of text: Substring) -> [UInt8]? {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue.map(UInt8.init) }
        guard digits.count == 2 * StoreLineage.idBytes, !digits.contains(nil) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) }
    }

    /// Decodes a token from its ``text``.
    ///
    /// - Throws: ``StorageError`` with `invalid-argument` for a text that isn't a token.
    public init(from decoder: any Decoder) throws {
        try self.init(text: try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the token as its ``text``.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension LogReader {
    /// The token of a position, with the commit that the event there belongs to.
    package func token(at position: Int64) throws -> ChangeToken {
        let lineage = try StoreLineage.load(database)
        guard position > 0 else { return ChangeToken(LogHead(), lineage) }
        guard let batch = try batch(containing: position) else {
            throw StorageError.corruptLog("position @\(position) is missing")
        }
        let commit = batch.commit(ofEvent: Int(position - batch.header.first))
        return ChangeToken(LogHead(position: position, commit: commit.number, time: commit.time), lineage)
    }

    /// - Throws: `not-found` if the token is of another history.
    package func check(_ token: ChangeToken) throws {
        guard token.position <= (try head().position), try self.token(at: token.position) == token else {
            throw StorageError(
                .notFound, "The token of @\(token.position) belongs to another history than this store's.",
                remedy: "Start over with `changes(since: .position(0))`, or open the store that the token came from.")
        }
    }
}

extension ChangeToken: CustomStringConvertible {
    /// The token's ``text``.
    public var description: String { text }
}
