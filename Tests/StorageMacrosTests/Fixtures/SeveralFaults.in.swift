@StorageEntity(table: "storage_x")
struct User<Value> {
    let id: String = "1"
    lazy var name = 1
}
