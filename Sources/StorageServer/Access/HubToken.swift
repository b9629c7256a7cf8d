public import Foundation
internal import StorageCore
package import StorageSync

/// A token as the hub stores it: with a hash of its secret, but not the secret itself.
public struct HubToken: Sendable, Hashable, Identifiable {
    /// The public id, which begins the token's text.
    public let id: String
    /// The holder's name, which is the actor of its commits. Its sync sessions belong to the name, so a client can
    /// resume with a new token of the same name.
    public let name: String
    /// What the token allows, by entity.
    public let grants: [HubGrant]
    /// The tenant; nil for a token that isn't restricted to one.
    public let tenant: HubTenant?
    /// Whether it may read the server's status and metrics.
    public let administers: Bool
    /// When it was created.
    public let createdAt: Date
    /// When it expires; nil for never.
    public let expiresAt: Date?
    /// When it was revoked; nil if it hasn't been.
    public let revokedAt: Date?

    /// Returns whether it is accepted at a given time.
    public func isValid(at date: Date) -> Bool { revokedAt == nil && expiresAt.map { date < $0 } ?? true }
}

extension HubToken {
    /// What its holder may see and do.
    ///
    /// - Throws: `invalid-query` for a condition that this version can't parse.
    package func access() throws -> HubAccess {
        HubAccess(
            actor: name, namespace: name,
            grants: try grants.map { grant in
                var conditions = try grant.predicate().map { [$0] } ?? []
                if let tenant {
                    conditions.append(.comparison(column: tenant.column, .equal, .value(.text(tenant.value))))
                }
                return HubAccess.Grant(
                    entity: grant.entity, reads: grant.reads, writes: grant.writes,
                    condition: conditions.isEmpty ? nil : .all(conditions))
            })
    }
}
