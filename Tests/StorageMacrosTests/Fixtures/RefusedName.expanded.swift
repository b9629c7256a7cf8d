// swift-format-ignore-file

struct E {
    var id: String
}
struct Columns {
    var id: String
}
struct ColumnName {
    var id: String
}
