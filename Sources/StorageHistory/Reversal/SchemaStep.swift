/// How a step of a schema is distinguished from other commits.
package enum SchemaStep {
    /// Before the name of a step among the store's idempotency keys: a step that is to be done once is remembered as
    /// the commit that did it.
    package static let keyPrefix = "storagekit.schema/"
}
