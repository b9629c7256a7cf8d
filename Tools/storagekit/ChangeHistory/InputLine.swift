/// A line as `LineReader` found it.
struct InputLine {
    /// The line without its line break. Valid until the reader reads the next one.
    let bytes: ByteSlice
    /// Counts from one.
    let number: Int
    /// The line's offset in the uncompressed input, in bytes.
    let offset: Int
}
