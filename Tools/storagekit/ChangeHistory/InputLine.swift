/// A line as `LineReader` found it.
struct InputLine {
    /// The line without its line break. Valid until the reader takes the next one.
    let bytes: ByteSlice
    /// Counts from one.
    let number: Int
    /// How many bytes stand before the line in the uncompressed input.
    let offset: Int
}
