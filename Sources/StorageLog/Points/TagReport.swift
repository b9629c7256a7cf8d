/// What became of a tag or note, and the commit that did it.
package struct TagReport: Sendable, Equatable {
    package enum Change: Sendable, Equatable {
        case made
        /// The tag pointed to another position.
        case moved(from: Int64)
        /// The text is another: in the place of one that is lost, or of none.
        case annotated(isReplacing: Bool)
        case removed
        /// Everything is as it was wanted already.
        case none
    }

    package let change: Change
    /// The position that it points to, or pointed to.
    package let position: Int64
    /// nil for a dry run.
    package let receipt: CommitReceipt?
}
