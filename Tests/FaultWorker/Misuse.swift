/// The laboratory can't work as it was asked to.
struct Misuse: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
