import StorageKit

/// A result of a read.
enum ReadAnswer: Sendable {
    /// The names of the columns, for lines of cells.
    case titles([TableCell])
    /// Some items, in the direction of the page.
    case items([ScreenItem])
    /// The page is complete; with whether there may be more after it, and the end of the log that it was read at.
    case finished(hasMore: Bool, head: LogHead)
    /// The item that a search found; nil if it found nothing.
    case found(Int64?)
    /// Progress, as text.
    case progress(String)
    /// The planned changes.
    case planned(ReversalRun.Plan)
    /// The applied changes, as text.
    case applied(String)
    case failed(CommandError)
    case cancelled
}
