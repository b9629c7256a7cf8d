import StorageKit

/// What a browser learns of.
enum BrowserEvent: Sendable {
    case key(Key)
    case resized(FrameSize)
    /// What came of a read, known by its number. Of one that isn't wanted any more nothing is taken.
    case answer(Int, ReadAnswer)
    /// The end of the log now; others may have committed.
    case head(LogHead)
    /// The store can't be followed any more.
    case lost(CommandError)
}
