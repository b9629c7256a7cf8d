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
    /// A hub that was restored from a backup continues as if nothing had happened.
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
    /// What the hub has taken of a document takes all with it that waits for the document, also what was never sent, and what was
    /// written after it was sent.
    case confirmsWhatWasNotSent
    /// Documents that are fetched from the beginning take the place of what waits for them.
    case fetchesOverWaitingWrites
    /// Writes are looked for when a process begins, and not when they are made.
    case sendsWhenItBeginsOnly
    /// A process that begins asks at once, however often the one before it has failed.
    case forgetsDelaysAtRestart
    /// The answer to a request whose session has ended is dropped, and its waiters wait on.
    case dropsRequestsOfEndedSessions
    /// What comes in another order than the hub expects it in ends the synchronisation for good.
    case takesDisorderForFatal
    /// Changes of others are skipped where something waits for their documents.
    case skipsConflictingChanges
    /// Nothing is received while a write is parked.
    case parkedWritesBlockPulls
    /// What a restored hub has lost is withdrawn in one transaction, and pending again in another, which never comes.
    case rewindsInTwoTransactions
    /// A position of a branch that the hub gave up is taken for one of the current branch.
    case keepsPositionsOfOtherBranches
}
