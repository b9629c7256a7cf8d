/// Derived state that is part of every commit: it changes in the same transaction.
///
/// Isolation: used on the writer's queue only.
package protocol InlineProjection: AnyObject {
    /// Whether it runs code that may set savepoints.
    var maySetSavepoints: Bool { get }
    /// Applies the events of one commit; the entity tables hold them already.
    ///
    /// - Parameter events: The indexes of the commit's events among the captured ones.
    func apply(_ events: Range<Int>, of view: EventView, commit: CommitInfo, in writer: LogWriter) throws
    /// Adapts to entities whose tables or columns were renamed, dropped or recreated. Called before ``apply(_:of:commit:in:)``.
    ///
    /// - Parameter renumbered: Entities whose rows have new rowids.
    func catalogChanged(renumbered: Set<UInt32>, in writer: LogWriter) throws
    /// Discards its state of a transaction that was rolled back.
    func reload(from writer: LogWriter) throws
    /// Rebuilds everything that is derived from these entities, whose tables were just rebuilt from the log.
    func rebuild(_ entities: [CatalogEntity], in writer: LogWriter) throws
    /// Called when a transaction is durable. Must be quick, and must not write.
    func committed(in writer: LogWriter)
}

extension InlineProjection {
    package var maySetSavepoints: Bool { false }
}
