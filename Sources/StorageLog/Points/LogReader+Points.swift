internal import Foundation
package import StorageCore

extension LogReader {
    /// The last position that belongs to the past as a point sees it.
    ///
    /// - Throws: `not-found` for a position or commit that isn't in the log, or a tag that there isn't.
    package func position(of point: StoragePoint) throws -> Int64 {
        let head = try head()
        switch point {
        case .head: return head.position
        case .position(let position):
            guard (0...head.position).contains(position) else {
                throw StorageError(
                    .notFound, "There is no position \(position).",
                    remedy: "The log has the positions 0, before the first event, to \(head.position).")
            }
            return position
        case .commit(let number):
            guard (0...head.commit).contains(number) else {
                throw StorageError(
                    .notFound, "There is no commit \(number).",
                    remedy: "The log has the commits 1 to \(head.commit).")
            }
            return try lastPosition(before: "first_commit <= ?1", number) { $0.number <= number }
        case .tag(let name):
            guard let tag = try TagReader(self).tag(named: name) else { throw StorageError.noTag(name) }
            return try position(of: .position(tag.position))
        case .time(let date):
            let time = date.microseconds
            return try lastPosition(before: "first_time <= ?1", time) { $0.time <= time }
        }
    }

    /// The last position of the commits that belong to the past; numbers and times never go backwards.
    private func lastPosition(
        before condition: String, _ bound: Int64, _ belongs: (CommitInfo) -> Bool
    ) throws -> Int64 {
        let select = try PreparedStatement(
            database, "SELECT position FROM storage_log WHERE \(condition) ORDER BY position DESC LIMIT 1")
        select.bind(bound, at: 1)
        guard try select.step(), let batch = try batch(containing: select.integer(0)) else { return 0 }
        var last = batch.header.first - 1
        for part in batch.commits where belongs(part.info) {
            last = batch.header.first + Int64(part.events.upperBound) - 1
        }
        return last
    }
}
