/// Derived state that is part of every commit: it has a commit's changes when the commit is there, and not before.
///
/// Isolation: used on the writer's queue only.
package protocol InlineProjection: AnyObject {
    /// Takes in the events of one commit; the entity tables hold them already.
    ///
    /// - Parameter events: The commit's places among the captured events.
    func apply(_ events: Range<Int>, of view: EventView, commit: CommitInfo, in writer: LogWriter) throws
    /// Follows entities whose tables or columns were renamed, dropped or made anew. Called before
    /// ``apply(_:of:commit:in:)``.
    ///
    /// - Parameter renumbered: Entities whose rows have other row numbers than before.
    func catalogChanged(renumbered: Set<UInt32>, in writer: LogWriter) throws
    /// Forgets what it remembers of a transaction that was undone.
    func reload(from writer: LogWriter) throws
    /// Makes everything again that follows from these entities, whose tables were just made again from the log.
    func rebuild(_ entities: [CatalogEntity], in writer: LogWriter) throws
    /// Takes note that a transaction is durable. Must be quick, and must not write.
    func committed(in writer: LogWriter)
}
