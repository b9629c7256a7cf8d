/// An update for a consumer that can be composed with later ones.
package protocol ComposableUpdate: Sendable {
    /// Appends a later update.
    mutating func append(_ next: Self)
    /// How many steps it holds; 0 if it doesn't grow.
    var weight: Int { get }
}
