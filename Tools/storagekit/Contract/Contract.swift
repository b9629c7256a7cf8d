import StorageKit

/// The JSON that programs read: each kind of line or document is a type of this folder, which writes it and says what its
/// keys mean.
///
/// A key that says something new may be added in any version; one that goes, or means another thing, takes another ``version``.
/// Keys that say "where" are absent otherwise. Times are RFC 3339 in UTC, positions and numbers of commits are integers.
///
/// - `v`: The version, first in every line and document but the rows of queries, which are the user's own.
enum Contract {
    static let version = 1

    /// Begins a line or document.
    static func writeVersion(to json: inout JSONWriter) { json.member("v", version) }
}
