import StorageKit

/// An event that a browser reacts to.
enum BrowserEvent: Sendable {
    case key(Key)
    case resized(FrameSize)
    /// An answer to the read with a number. Answers to an outdated read are ignored.
    case answer(Int, ReadAnswer)
    /// The current end of the log; others may have committed.
    case head(LogHead)
    /// The store can't be followed any more.
    case lost(CommandError)
}
