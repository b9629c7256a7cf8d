import CSQLite
import StorageKit

/// The first rows that a commit changes in each table, to name them.
struct ChangedRows {
    /// The maximum number of rows of a table to name; the rest is counted.
    static let limit = 3

    private var ids: [ExactText: [String]] = [:]

    /// Adds rows of a part of the commit, up to the limit.
    mutating func add(_ part: CommitPart, of batch: EventBatch, _ catalog: Catalog) {
        for index in part.matching.sorted() {
            let entity = batch.withView { $0.shape(of: index).entity }
            guard let table = (catalog.entity(id: entity)?.name).map(ExactText.init) else { continue }
            let known = ids[table, default: []]
            // A commit may be large, and most are of one table.
            if known.count >= Self.limit { if ids.count == 1 { return } else { continue } }
            let id = batch.event(at: index, catalog: catalog, commit: part.info).id
            if !known.contains(where: { $0.utf8.elementsEqual(id.utf8) }) { ids[table] = known + [id] }
        }
    }

    /// `a/1, b and 40 more`
    func text(of table: String, changes: Int) -> String {
        list(ids[ExactText(table)] ?? [], changes)
    }

    /// The rows as they are typed: `posts/a/1, posts/b and 40 more`.
    func targets(in table: String, of changes: Int) -> String {
        list((ids[ExactText(table)] ?? []).map { TargetArgument(table: table, id: $0).description }, changes)
    }

    private func list(_ names: [String], _ changes: Int) -> String {
        let hidden = changes - names.count
        let shown = names.joined(separator: ", ")
        // Several changes may belong to one row.
        return names.count < Self.limit || hidden <= 0 ? shown : "\(shown) and \(NumberText.grouped(hidden)) more"
    }
}
