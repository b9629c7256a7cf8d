internal import StorageCore

/// How far a reader of changes has come. Kept, it says where to go on, also in another process and after a restart.
///
/// ```swift
/// let page = try await storage.changes(since: token, limit: 100)
/// try Data(page.next.text.utf8).write(to: file)
/// ```
///
/// It names a position together with the commit there and its time, so that a token of another store, or of a history that was
/// replaced since, is refused instead of leaving something out.
public struct ChangeToken: Sendable, Hashable, Codable {
    /// The last position that was read.
    public let position: Int64
    let commit: Int64
    let time: Int64

    init(_ place: LogHead) {
        position = place.position
        commit = place.commit
        time = place.time
    }

    /// The token that ``text`` has told.
    ///
    /// - Throws: `misuse` for a text that isn't one.
    public init(text: String) throws {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 3, let position = numbers[0], let commit = numbers[1], let time = numbers[2],
            position >= 0, commit >= 0
        else {
            throw StorageError(
                .misuse, "This text isn't a token of changes.",
                remedy: "Hand back the text of a page's `next` or of a change's `token` unchanged.")
        }
        self.init(LogHead(position: position, commit: commit, time: time))
    }

    /// Opaque; made of digits, points and minus signs.
    public var text: String { "\(position).\(commit).\(time)" }

    public init(from decoder: any Decoder) throws {
        try self.init(text: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension LogReader {
    /// The token of a position, with the commit that the event there belongs to.
    package func token(at position: Int64) throws -> ChangeToken {
        guard position > 0 else { return ChangeToken(LogHead()) }
        guard let batch = try batch(containing: position) else {
            throw StorageError.corruptLog("position @\(position) is missing")
        }
        let commit = batch.commit(ofEvent: Int(position - batch.header.first))
        return ChangeToken(LogHead(position: position, commit: commit.number, time: commit.time))
    }

    /// - Throws: `not-found` where the token is of another history.
    package func check(_ token: ChangeToken) throws {
        guard token.position <= (try head().position), try self.token(at: token.position) == token else {
            throw StorageError(
                .notFound, "The token of @\(token.position) belongs to another history than this store's.",
                remedy: "Begin anew with `changes(since: .position(0))`, or open the store that the token came from.")
        }
    }
}
