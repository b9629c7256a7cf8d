/// What others got wrong, done on purpose around a core that is right: the simulation has to notice each.
enum PlantedDefect: String, CaseIterable {
    /// Sends before it saves: a crash in between forgets the numbers.
    case sendsBeforeSaving
    /// A timer that never fires: what waits for it waits for ever.
    case losesTimers
    /// Waiting writes are kept in memory only.
    case losesOutboxAtRestart
    /// How far was pulled is saved before what was pulled.
    case savesPositionBeforeChanges
    /// An answer that is late is taken for none, and the same writes are sent again under new numbers.
    case sendsAgainUnderNewNumbers
    /// The hub doesn't look at the session of what it is sent.
    case hubDoesNotFence
    /// A hub that was restored from a backup goes on as if nothing had happened.
    case hubKeepsItsLine
    /// Nobody says that the network is back.
    case losesReconnections
    /// The writes of a batch arrive in another order.
    case reordersBatches
    /// Deletions aren't queued.
    case losesDeletions
    /// What was sent as one isn't remembered after a restart: later writes are merged into writes that were sent.
    case forgetsOrigins
    /// A write behind a deletion is sent as one with it, as if it was a change of the document before.
    case mergesAcrossDeletions
    /// A write says that it was made on what was pulled when it is sent, not on what was pulled when it was made.
    case statesALaterBase
    /// A write that is parked holds back those of all other documents.
    case parkedWritesBlockAll
    /// Writes are named by their place among those that are pending, which changes.
    case namesWritesByIndex
    /// Writes aren't carried over to another version of the program.
    case losesOutboxAtUpgrade
    /// Each rejection is dropped without a trace.
    case dropsRejectedWrites
}
