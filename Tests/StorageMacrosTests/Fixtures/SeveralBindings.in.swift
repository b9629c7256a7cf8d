@StorageEntity
struct Point {
    var id: Int
    var x, y: Double
    var width: Int = 1, title: String
    let a: Int?, b: String
}
