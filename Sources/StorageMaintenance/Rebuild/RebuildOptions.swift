/// What a rebuild does with the new tables.
public struct RebuildOptions: Sendable, Hashable {
    /// Whether the new tables are compared with the old ones before they replace them.
    public var compares: Bool
    /// Whether the new tables replace the old ones. Otherwise a rebuild only reports the differences.
    public var swaps: Bool
    /// Whether the old tables are kept, each as a plain table that ``RebuildReport/kept`` names. Earlier kept tables
    /// must have been discarded.
    public var keepsOld: Bool

    /// Creates options; by default the new tables replace the old ones.
    public init(compares: Bool = false, swaps: Bool = true, keepsOld: Bool = false) {
        self.compares = compares
        self.swaps = swaps
        self.keepsOld = keepsOld
    }
}
