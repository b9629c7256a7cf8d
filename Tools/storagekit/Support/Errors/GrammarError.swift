/// A word on the command line that can't be understood; says what would be.
struct GrammarError: Error, Equatable, CustomStringConvertible {
    /// What is wrong, as a sentence.
    let problem: String
    /// What can be written instead, as a sentence.
    let examples: String

    var description: String { "\(problem) \(examples)" }
}
