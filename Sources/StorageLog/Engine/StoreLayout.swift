/// The required schema of the file, apart from its rows.
package enum StoreLayout {
    /// The engine's own tables and triggers, with their exact SQL.
    package static var objects: [(name: String, sql: String)] { StoreSchema.objects }
}
