import StorageKit
import StorageServer

/// A line of `tokens`.
///
/// - `id`: The token's id.
/// - `name`: The holder's name.
/// - `grants`: A ``TokenRecord/Grant`` each.
/// - `tenant`: The tenant whose rows it is limited to, a ``TokenRecord/Tenant``, or null.
/// - `admin`: Whether it may read the server's status and metrics.
/// - `created`, `expires`, `revoked`: The times; null for never.
struct TokenRecord: JSONRecord {
    let token: HubToken

    func write(to json: inout JSONWriter) throws {
        json.member("id", token.id)
        json.member("name", token.name)
        try json.member("grants", token.grants.map(Grant.init))
        try json.member("tenant", token.tenant.map(Tenant.init))
        json.member("admin", token.administers)
        json.member("created", time: token.createdAt.microseconds)
        json.member("expires", time: token.expiresAt.map(\.microseconds))
        json.member("revoked", time: token.revokedAt.map(\.microseconds))
    }

    /// - `entity`: Its name, or `*` for all others.
    /// - `condition`: The condition on its rows, or null.
    /// - `read`, `write`: What is allowed.
    struct Grant: JSONRecord {
        let grant: HubGrant

        func write(to json: inout JSONWriter) {
            json.member("entity", grant.entity ?? "*")
            json.member("condition", grant.condition)
            json.member("read", grant.reads)
            json.member("write", grant.writes)
        }
    }

    /// - `column`, `value`: The column with a row's tenant, and the tenant.
    struct Tenant: JSONRecord {
        let tenant: HubTenant

        func write(to json: inout JSONWriter) {
            json.member("column", tenant.column)
            json.member("value", tenant.value)
        }
    }
}
