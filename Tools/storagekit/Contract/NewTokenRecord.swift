import StorageKit
import StorageServer

/// The answer of `tokens create`.
///
/// - `token`: The token's text, which isn't printed again.
/// - ``TokenRecord``
struct NewTokenRecord: JSONRecord {
    let text: String
    let token: HubToken

    func write(to json: inout JSONWriter) throws {
        json.member("token", text)
        try TokenRecord(token: token).write(to: &json)
    }
}
