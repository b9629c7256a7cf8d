/// Why one line of input, or one word of a grammar, can't be read: where, what, and what to write instead.
///
/// It knows the place inside its line only. Who reads lines adds the number, see `CommandError.init(_:line:)`.
struct InputError: Error, Equatable, Sendable {
    /// How many bytes of the line stand before the fault.
    let offset: Int
    /// What is wrong, without a capital and without a full stop, so that it can follow "line 7, byte 12: ".
    let problem: String
    /// What to do about it, as a sentence.
    let remedy: String
}

extension InputError: CustomStringConvertible {
    /// People count from one, and so do editors.
    var description: String { "byte \(offset + 1): \(problem). \(remedy)" }
}
