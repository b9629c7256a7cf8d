/// A message at the bottom of the terminal until the next key.
enum Notice: Sendable {
    case text(String)
    /// A command that prints the same as the screen.
    case command(String)
    case error(CommandError)
}
