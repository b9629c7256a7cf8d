// swift-format-ignore-file

struct Grid {
    var id: String
    var columns: [Columns]
    var element: E
    var first: ColumnName?
    var fine: Layout.Columns
}
