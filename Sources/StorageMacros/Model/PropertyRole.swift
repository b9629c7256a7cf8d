/// The role of a property if it isn't simply a column of its own type.
enum PropertyRole: Equatable {
    case column
    /// One column that holds JSON.
    case json
    /// A column for each property of its type.
    case embedded(prefix: String)
    /// No column: the rows of another entity that refer to this one.
    case hasMany(foreignKey: String)
    /// No column: the row that another property refers to.
    case belongsTo(foreignKey: String, parent: String, deleteRule: String?)

    var isStored: Bool {
        switch self {
        case .hasMany, .belongsTo: false
        default: true
        }
    }
}
