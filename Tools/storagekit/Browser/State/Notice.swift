/// What the bottom of the terminal says until the next key.
enum Notice: Sendable {
    case text(String)
    /// A command that prints what is shown.
    case command(String)
    case error(CommandError)
}
