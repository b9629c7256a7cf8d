import StorageKit

/// The JSON that programs read: each kind of line or document is a type in this folder, which writes it and documents its keys.
///
/// New keys may be added in any version; removing a key or changing its meaning requires a new ``version``. Keys described with "if" are
/// absent otherwise, unless the description names another value, such as null or 0. Times are RFC 3339 in UTC, positions and numbers of commits are
/// integers.
///
/// - `v`: The version, first in every line and document except rows of queries, whose keys the user chooses.
enum Contract {
    static let version = 1

    /// Begins a line or document.
    static func writeVersion(to json: inout JSONWriter) { json.member("v", version) }
}
