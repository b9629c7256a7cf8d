/// Distinguishes schema steps from other commits.
package enum SchemaStep {
    /// The prefix of a step's name among the store's idempotency keys, which record the commit of each step, so that it is done
    /// only once.
    package static let keyPrefix = "storagekit.schema/"
}
