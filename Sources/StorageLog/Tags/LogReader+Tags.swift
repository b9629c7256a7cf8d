internal import CSQLite
package import StorageCore

extension LogReader {
    /// The position that a tag or note of a point gets.
    ///
    /// The head is taken without the tags and notes that came last, which change no state: who tags twice tags the same,
    /// and a tag points to a commit that users see.
    package func taggedPosition(of point: StoragePoint) throws -> Int64 {
        guard point == .head else { return try position(of: point) }
        let head = try head().position
        guard head > 0 else { return 0 }
        let isTag = { (entity: UInt32) in entity == CatalogEntity.tag.id || entity == CatalogEntity.note.id }
        var found: Int64 = 0
        try forEachBatch(in: 1...head, descending: true, where: { !$0.entities.allSatisfy(isTag) }) { batch in
            found = batch.withView { view in
                let place = batch.commits.last { commit in
                    commit.events.contains { !isTag(view.shape(of: $0).entity) }
                }
                return place.map { batch.header.first + Int64($0.events.upperBound) - 1 } ?? 0
            }
            return found == 0
        }
        return try lastPosition(ofCommitAt: found)
    }
}
