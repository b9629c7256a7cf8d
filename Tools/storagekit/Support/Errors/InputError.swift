/// Why one line of input, or one word of a grammar, is invalid: where, what, and what to write instead.
///
/// It contains only the offset inside the line. The caller that reads lines adds the number, see `CommandError.init(_:line:)`.
struct InputError: Error, Equatable, Sendable {
    /// The offset of the error in the line, in bytes.
    let offset: Int
    /// What is wrong, without a capital and a full stop, so that it can follow "line 7, byte 12: ".
    let problem: String
    /// What to do about it, as a sentence.
    let remedy: String
}

extension InputError: CustomStringConvertible {
    /// Counts from one, as people and editors do.
    var description: String { "byte \(offset + 1): \(problem). \(remedy)" }
}
