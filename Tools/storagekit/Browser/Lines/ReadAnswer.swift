import StorageKit

/// What came of a read.
enum ReadAnswer: Sendable {
    /// The names of the columns, for lines of cells.
    case titles([TableCell])
    /// Some items, in the direction of the page.
    case items([ScreenItem])
    /// The page is complete; whether there may be more behind it, and the end of the log that it was read at.
    case finished(hasMore: Bool, head: LogHead)
    /// Where a search ended; nil where it found nothing.
    case found(Int64?)
    /// How far it is, in words.
    case progress(String)
    /// What would be changed.
    case planned(ReversalRun.Plan)
    /// What was changed, in words.
    case applied(String)
    case failed(CommandError)
    case cancelled
}
