@StorageEntity
struct Note {
    var id: [UInt8]
    var text: String
}
