import StorageKit

/// A column.
///
/// - `name`, `type`: As declared; the type may be empty.
/// - `key`: Its ordinal in the primary key, from 1; 0 if it isn't part of it.
/// - `required`: Whether it can't be NULL.
/// - `default`: The default value.
/// - `converted_from`: The column that its values were converted from, if they were.
struct ColumnRecord: JSONRecord {
    let column: CatalogColumn
    let entity: CatalogEntity

    func write(to json: inout JSONWriter) {
        json.member("name", column.name)
        json.member("type", column.type)
        json.member("key", column.keyOrdinal)
        json.member("required", column.required)
        json.member("default", column.fallback, of: column)
        if let origin = entity.columns.first(where: { column.origin != 0 && $0.id == column.origin }) {
            json.member("converted_from", origin.name)
        }
    }
}
