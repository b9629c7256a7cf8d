import StorageKit

extension CommandError {
    /// The error for a point that doesn't exist.
    ///
    /// - Parameters:
    ///   - point: The point as it was written.
    ///   - first: The first commit of the store; nil if it is empty.
    init(_ missing: MissingPoint, at point: PointArgument, first: CommitInfo?) {
        switch missing {
        case .position(var position, let head):
            if case .before(let written) = point { position = written }
            self.init(missingPosition: position, head: head)
        case .commit(let number, let head): self.init(missingCommit: number, head: head)
        case .tag(let name, let known):
            let similar = Suggestions.nearest(to: name, among: known)
            self.init(
                .notFound, "There is no tag \"\(name)\".",
                why: known.isEmpty ? "The store has no tags." : "The tags are \(Suggestions.list(known)).",
                next: similar.isEmpty
                    ? "Create it: storagekit tag \(name.quotedAsShellWord) POINT"
                    : "Did you mean \(similar.joined(separator: ", "))?")
        case .earlier(_, let than, let available, let last):
            self.init(
                .notFound, "There is no point \(point).",
                why: than == .head ? "The store has \(available) commits." : "The tag points to commit \(last).",
                next: "The first is t:1; everything before it is @0.")
        case .anyCommit(_, let head):
            guard head.position > 0 else {
                self.init(emptyStoreAt: "\(point)")
                return
            }
            self.init(
                .notFound, "There is no commit at \(point) or before it.",
                why: first.map { "The first is t:1, of \(Timestamp.shown($0.time))." } ?? "",
                next: "Type: storagekit show t:1")
        }
    }

    init(missingPosition position: Int64, head: LogHead) {
        guard head.position > 0 else {
            self.init(emptyStoreAt: "@\(position)")
            return
        }
        let nearest = min(max(position, 1), head.position)
        self.init(
            .notFound, "There is no event @\(position).", why: "The log has the events @1 to @\(head.position).",
            next: "The nearest is @\(nearest). Type: storagekit show @\(nearest)")
    }

    init(missingCommit number: Int64, head: LogHead) {
        guard head.commit > 0 else {
            self.init(emptyStoreAt: "t:\(number)")
            return
        }
        let nearest = min(max(number, 1), head.commit)
        self.init(
            .notFound, "There is no commit t:\(number).", why: "The log has the commits t:1 to t:\(head.commit).",
            next: "The nearest is t:\(nearest). Type: storagekit show t:\(nearest)")
    }

    private init(emptyStoreAt point: String) {
        self.init(
            .notFound, "There is no \(point).", why: "The store is empty.",
            next: "Import a history first: storagekit import FILE")
    }
}
