/// The change of a tag or note, and the commit that made it.
package struct TagReport: Sendable, Equatable {
    package enum Change: Sendable, Equatable {
        case made
        /// The tag pointed to another position before.
        case moved(from: Int64)
        /// The text was changed: it replaced an earlier one, or there was none.
        case annotated(isReplacing: Bool)
        case removed
        /// Nothing: the tag or note was already as requested.
        case none
    }

    package let change: Change
    /// The tag's or note's position, also after its deletion.
    package let position: Int64
    /// nil for a dry run.
    package let receipt: CommitReceipt?
}
