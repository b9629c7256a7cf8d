@StorageEntity
struct Note {
    var id: String
    var action: (() -> Void)?
}
