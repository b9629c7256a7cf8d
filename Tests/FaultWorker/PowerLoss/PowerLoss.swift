/// What becomes of that which was written and not yet brought to the disk, when the power goes.
enum PowerLoss: CaseIterable {
    /// All of it is gone.
    case everything
    /// All of it has come to the disk all the same.
    case nothing
    /// Of each call it is chance.
    case someCalls
    /// One call is gone, whatever came after it.
    case oneCall
    /// Of each 512 bytes it is chance up to which call they have come to the disk.
    case someSectors
    /// The last write came to the disk in part, everything before it whole.
    case endOfLastWrite
    /// Some sectors, and where a file has grown and the bytes are gone, there is chance in their place.
    case garbage
}
