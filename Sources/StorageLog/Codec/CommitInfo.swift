public import Foundation
internal import StorageCore

/// Who made a commit, with which program, and why. Every field is optional.
///
/// ```swift
/// try await storage.write(actor: "anna", reason: "import", attributes: ["file": "may.csv"]) { tx in
///     try tx.execute("UPDATE users SET isActive = 1")
/// }
/// let commit = try await storage.log.commit(at: .head)
/// print(commit.metadata.actor ?? "", commit.metadata.attributes["file"] ?? "")
/// ```
public struct CommitMetadata: Sendable, Hashable {
    /// The person or service that made the changes.
    public var actor: String?
    /// The program, with its version if you like.
    public var app: String?
    /// The reason for the commit, in words.
    public var reason: String?
    /// An identifier that ties this commit to a request, job or message elsewhere.
    public var correlation: String?
    /// A key that identifies the commit, so that it is never made twice.
    public var idempotencyKey: String?
    /// Anything else worth keeping with the commit.
    public var attributes: [String: String]

    /// Creates metadata.
    public init(
        actor: String? = nil, app: String? = nil, reason: String? = nil, correlation: String? = nil,
        idempotencyKey: String? = nil, attributes: [String: String] = [:]
    ) {
        self.actor = actor
        self.app = app
        self.reason = reason
        self.correlation = correlation
        self.idempotencyKey = idempotencyKey
        self.attributes = attributes
    }
}

extension CommitMetadata {
    /// The UTF-8 bytes of all texts.
    var byteCount: Int {
        // Without an array of the five: each commit of a large group is counted.
        var count = (actor?.utf8.count ?? 0) + (app?.utf8.count ?? 0) + (reason?.utf8.count ?? 0)
        count += (correlation?.utf8.count ?? 0) + (idempotencyKey?.utf8.count ?? 0)
        for (name, value) in attributes { count += name.utf8.count + value.utf8.count }
        return count
    }

    /// Whether all texts are equal byte for byte; `==` treats the two spellings of é as equal.
    func isExactly(_ other: CommitMetadata) -> Bool {
        func isSame(_ text: String?, _ other: String?) -> Bool { text.map(ExactText.init) == other.map(ExactText.init) }
        guard isSame(actor, other.actor), isSame(app, other.app), isSame(reason, other.reason),
            isSame(correlation, other.correlation), isSame(idempotencyKey, other.idempotencyKey),
            attributes.count == other.attributes.count
        else { return false }
        return attributes.allSatisfy { name, value in
            guard let index = other.attributes.index(forKey: name) else { return false }
            return ExactText(other.attributes[index].key) == ExactText(name)
                && ExactText(other.attributes[index].value) == ExactText(value)
        }
    }
}

/// The header of a commit: what its events have in common.
///
/// ```swift
/// for version in try await storage.history(User.self, id: "42") {
///     print(version.commit.number, version.commit.date.formatted(), version.commit.metadata.reason ?? "")
/// }
/// ```
public struct CommitInfo: Sendable, Hashable {
    /// The commit's number: 1, 2, 3 … without gaps.
    public let number: Int64
    /// When the commit was made, in microseconds since 1970 UTC; never less than the previous commit's time. See ``date``.
    public let time: Int64
    /// The clock's reading, in microseconds since 1970 UTC, if it was less than the previous commit's time, which ``time`` then
    /// repeats; nil if it equals `time`.
    public let clock: Int64?
    /// Who made the commit, with which program, and why.
    public let metadata: CommitMetadata
    /// Parts of the header that a newer version has written, in their stored form.
    let extensions: [UInt8]

    /// ``time`` as a date. `.time(commit.date)` is the point after this commit and all others of the same microsecond.
    public var date: Date { Date(microseconds: time) }

    /// Whether the header has an extension block.
    var isExtended: Bool { clock != nil || !extensions.isEmpty }

    init(number: Int64, time: Int64, clock: Int64? = nil, metadata: CommitMetadata, extensions: [UInt8] = []) {
        self.number = number
        self.time = time
        self.clock = clock
        self.metadata = metadata
        self.extensions = extensions
    }
}

/// The part of a commit that lies in one segment.
struct CommitSlice {
    var info: CommitInfo
    /// The number of the segment's events that belong to the commit.
    var eventCount: Int
    /// Whether the commit has events in the previous or in the next segment.
    var continuesEarlier = false
    var continuesLater = false
}

extension [CommitSlice] {
    /// The commit of the event at an index of their segment.
    func commit(ofEvent index: Int) -> CommitInfo {
        var remaining = index
        for slice in self {
            if remaining < slice.eventCount { return slice.info }
            remaining -= slice.eventCount
        }
        return self[count - 1].info
    }
}

extension CommitSlice: Equatable {
    /// Whether both are the same events of the same commit, with texts equal byte for byte.
    static func == (a: CommitSlice, b: CommitSlice) -> Bool {
        a.info.number == b.info.number && a.info.time == b.info.time && a.info.clock == b.info.clock
            && a.info.extensions == b.info.extensions && a.info.metadata.isExactly(b.info.metadata)
            && a.eventCount == b.eventCount && a.continuesEarlier == b.continuesEarlier
            && a.continuesLater == b.continuesLater
    }
}
