@StorageEntity
package struct Card: Hashable, Identifiable {
    package var id: Int
    package var title: String
    package var lane: String
    package var rank: Double?

    package init(id: Int, title: String, lane: String, rank: Double? = nil) {
        self.id = id
        self.title = title
        self.lane = lane
        self.rank = rank
    }
}
