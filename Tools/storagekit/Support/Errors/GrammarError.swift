/// An invalid word on the command line, with valid examples.
struct GrammarError: Error, Equatable, CustomStringConvertible {
    /// What is wrong, as a sentence.
    let problem: String
    /// What can be written instead, as a sentence.
    let examples: String

    /// Two lines, the second of which says what to write; ArgumentParser passes them on unchanged.
    var description: String { "\(problem)\n\(examples)" }
}
