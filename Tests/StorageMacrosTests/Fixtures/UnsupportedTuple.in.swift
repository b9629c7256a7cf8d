@StorageEntity
struct Note {
    var id: String
    var place: (x: Double, y: Double)
}
