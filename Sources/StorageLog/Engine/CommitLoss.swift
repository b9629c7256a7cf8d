/// Commits that were acknowledged and that a store doesn't hold any more.
package struct CommitLoss: Sendable, Hashable {
    /// Whether it must be damage, or an older copy of the file. Else the last writer was of `normal` durability, which may lose the
    /// last commits with the power.
    package let isDamage: Bool
    package let message: String
    package let remedy: String
}
