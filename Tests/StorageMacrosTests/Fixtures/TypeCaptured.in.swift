@StorageEntity
struct Grid {
    var id: String
    @StorageJSON var columns: [Columns]
    var element: E
    var first: ColumnName?
    var fine: Layout.Columns
}
