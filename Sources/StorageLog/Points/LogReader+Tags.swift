internal import CSQLite
internal import StorageCore

extension LogReader {
    /// The end of the last commit up to a position that isn't only a tag, a note or an operation.
    package func lastChange(through end: Int64) throws -> Int64 {
        guard end > 0 else { return 0 }
        var found: Int64 = 0
        let hasOtherEvents = { (header: SegmentHeader) in !header.entities.allSatisfy(CatalogEntity.isAnnotation) }
        try forEachBatch(in: 1...end, descending: true, where: hasOtherEvents) { batch in
            found = batch.withView { view in
                let last = batch.commits.last { commit in
                    batch.header.first + Int64(commit.events.lowerBound) <= end
                        && commit.events.contains { !CatalogEntity.isAnnotation(view.shape(of: $0).entity) }
                }
                return last.map { batch.header.first + Int64($0.events.upperBound) - 1 } ?? 0
            }
            return found == 0
        }
        return try found == 0 ? 0 : lastPosition(ofCommitAt: found)
    }

    /// The number of commits ending at some positions that contain only tags, notes or operations.
    ///
    /// Decodes only segments that hold such events. A commit that spans several segments isn't counted.
    package func annotationCount(in positions: ClosedRange<Int64>) throws -> Int64 {
        var count: Int64 = 0
        try forEachBatch(in: positions, where: { $0.entities.contains(where: CatalogEntity.isAnnotation) }) { batch in
            count += batch.withView { view in
                let annotations = batch.commits.count { commit in
                    let isWhole =
                        !(commit.events.lowerBound == 0 && batch.beginsInsideCommit)
                        && !(commit.events.upperBound == batch.count && batch.endsInsideCommit)
                    return isWhole && positions.contains(batch.header.first + Int64(commit.events.upperBound) - 1)
                        && commit.events.allSatisfy { CatalogEntity.isAnnotation(view.shape(of: $0).entity) }
                }
                return Int64(annotations)
            }
            return true
        }
        return count
    }
}
