@StorageEntity
struct User {
    var id = UUID()
    var count = 0, title: String
    var ratio = -1.5
    var name = "a"
    var isOn = true
    var other = makeValue()
}
