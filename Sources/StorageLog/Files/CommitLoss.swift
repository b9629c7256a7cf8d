/// Acknowledged commits that a store no longer holds.
package struct CommitLoss: Sendable, Hashable {
    /// Whether the cause must be damage, or an older copy of the file. Otherwise the last writer had `normal` durability, which
    /// may lose the last commits in a power failure.
    package let isDamage: Bool
    package let message: String
    package let remedy: String
}
