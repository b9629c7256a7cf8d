/// A word on the command line that can't be understood; says what would be.
struct GrammarError: Error, Equatable, CustomStringConvertible {
    /// What is wrong, as a sentence.
    let problem: String
    /// What can be written instead, as a sentence.
    let examples: String

    /// Two lines, of which the second says what to write; ArgumentParser passes them on as they are.
    var description: String { "\(problem)\n\(examples)" }
}
