@StorageEntity
struct Trip {
    var id: String
    @StorageEmbedded(prefix: "at_") var place: Place
    @StorageEmbedded(prefix: "at_") var time: Span
}
