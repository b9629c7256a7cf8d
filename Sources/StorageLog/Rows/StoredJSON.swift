/// The type of a column that holds a `Codable` value as JSON text, which is what `@StorageJSON` makes of a property.
///
/// A query can find out whether the column is NULL, and an update can set it: `$0.tags.set(to: ["a"])`. Comparisons with a value
/// don't compile, because one value can have several texts as JSON. To compare the text, write `Column<String>("tags")`.
public enum StoredJSON<Value> {}
