/// What is new for a consumer, and can be composed with what follows.
package protocol ComposableUpdate: Sendable {
    /// Adds what came later.
    mutating func append(_ next: Self)
    /// How many steps it holds; 0 where it doesn't grow.
    var weight: Int { get }
}
