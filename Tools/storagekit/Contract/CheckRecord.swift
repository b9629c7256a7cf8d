import StorageKit

/// A line of `doctor`: a check.
///
/// - `check`: The name of the check.
/// - `status`: `ok`, `warn` or `fail`.
/// - `message`: What was found.
/// - `remedy`: What to do about it, or null.
struct CheckRecord: JSONRecord {
    let check: String
    let status: String
    let message: String
    let remedy: String?

    func write(to json: inout JSONWriter) {
        json.member("check", check)
        json.member("status", status)
        json.member("message", message)
        json.member("remedy", remedy)
    }
}
