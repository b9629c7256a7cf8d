import Foundation
import StorageKit

/// The names and points in a store that begin with a text.
struct StoreCandidates {
    /// The maximum number of commits to offer.
    private static let commits = 12
    private static let tags = 500
    /// Actors are searched in the commits of this many events, which takes less than a tenth of a second. A time limit would give other results on a
    /// busy machine.
    private static let actorEvents: Int64 = 100_000

    let store: HistoryReader
    /// The tables whose columns to offer; all if empty.
    let tables: [String]
    /// Whether a quotation mark is open at the cursor: statements have more than one word.
    var isQuoted = false

    private var entities: [CatalogEntity] { store.catalog.live.filter { !$0.isReserved } }

    func values(_ value: CompletedValue, _ typed: String) throws -> [Candidate] {
        switch value {
        case .text, .file, .store: []
        case .table: entities.map { Candidate(text: $0.name) }
        case .column: columns()
        case .row: try targets(typed, takesTables: false)
        case .target: try targets(typed, takesTables: true)
        case .projection: try StoredProjection.all(in: store.connection).map { Candidate(text: $0.name) }
        case .actor: try actors { $0.actor }
        case .app: try actors { $0.app }
        case .tag: try tagNames()
        case .point: try pointsOrRanges(typed)
        case .points: try pointList(typed)
        case .pointOrTarget: try targets(typed, takesTables: true) + pointsOrRanges(typed)
        case .pointOrTable: try pointsOrRanges(typed) + entities.map { Candidate(text: $0.name) }
        case .condition: try sql(typed)
        case .sql: try statement(typed)
        case .tableOrSQL: try entities.map { Candidate(text: $0.name) } + statement(typed)
        case .pointOrSQL: try points(typed) + statement(typed)
        }
    }

    // MARK: SQL

    private func statement(_ typed: String) throws -> [Candidate] {
        isQuoted || typed.contains(where: \.isWhitespace) ? try sql(typed) : []
    }

    /// The text with its last word completed.
    private func sql(_ typed: String) throws -> [Candidate] {
        let found = try SQLWords(store).candidates(for: (tables + [typed]).joined(separator: " "))
        let kept = typed.dropLast(found.typed.count)
        return found.words.map { Candidate(text: kept + $0, isPartial: true, isChosen: true) }
    }

    private func columns() -> [Candidate] {
        let named = entities.filter { tables.contains($0.name) }
        var seen: Set<String> = []
        return (named.isEmpty ? entities : named).flatMap(\.live).map(\.name).filter { seen.insert($0).inserted }
            .map { Candidate(text: $0) }
    }

    // MARK: Tables, rows, cells

    private func targets(_ typed: String, takesTables: Bool) throws -> [Candidate] {
        // The column after a # may not be typed yet.
        let slash = typed.firstIndex(of: "/")
        let hash = slash.flatMap { typed[$0...].lastIndex(of: "#") }
        guard slash != nil, let target = try? TargetArgument(String(typed[..<(hash ?? typed.endIndex)])) else {
            return entities.flatMap { entity in
                let name = TargetArgument(table: entity.name).description
                let rows = Candidate(text: name + "/", isPartial: true)
                // After a complete table name, its rows may follow.
                return takesTables ? [Candidate(text: name), rows] : [rows]
            }
        }
        guard let entity = entities.first(where: { $0.name.utf8.elementsEqual(target.table.utf8) }), let id = target.id
        else { return [] }
        if let hash {
            let row = typed[...hash]
            return entity.live.map { column in
                let cell = TargetArgument(table: "t", id: "", column: column.name).description
                return Candidate(text: "\(row)\(cell.dropFirst("t/#".count))", about: column.type)
            }
        }
        return try RowCandidates(entity: entity, connection: store.connection).keys(beginning: id).map { key in
            Candidate(
                text: TargetArgument(table: entity.name, id: key.text).description, isPartial: key.isPartial)
        }
    }

    // MARK: Points

    private func pointList(_ typed: String) throws -> [Candidate] {
        let before = typed.lastIndex(of: ",").map { String(typed[...$0]) } ?? ""
        return try points(String(typed.dropFirst(before.count))).map {
            Candidate(text: before + $0.text, about: $0.about)
        }
    }

    private func pointsOrRanges(_ typed: String) throws -> [Candidate] {
        guard let dots = typed.firstRange(of: "..") else { return try points(typed) }
        let before = typed[..<dots.upperBound]
        return try points(String(typed[dots.upperBound...])).map { Candidate(text: before + $0.text, about: $0.about) }
    }

    private func points(_ typed: String) throws -> [Candidate] {
        var found = [Candidate(text: "head", about: "the newest commit")]
        found += try tagNames().map { Candidate(text: "tag:" + $0.text, about: $0.about) }
        if typed.hasPrefix("head~") { found += (1...9).map { Candidate(text: "head~\($0)") } }
        if typed.hasPrefix("t:"), typed.count > 2 { return try commits(beginning: typed.dropFirst(2)) }
        let recent = try recentCommits()
        found += recent.map { Candidate(text: "t:\($0.info.number)", about: Self.about($0.info)) }
        if typed.hasPrefix("@") {
            found += recent.map { Candidate(text: "@\($0.positions.upperBound)", about: Self.about($0.info)) }
        }
        return found + ["today", "yesterday", "now"].map { Candidate(text: $0) }
    }

    private func recentCommits() throws -> [LogIndex.Commit] {
        var found: [LogIndex.Commit] = []
        var position = store.head.position
        while position > 0, found.count < Self.commits, let commit = try store.index.commit(at: position) {
            found.append(commit)
            position = commit.positions.lowerBound - 1
        }
        return found
    }

    /// Returns the commit with a number, and those whose number begins with it.
    private func commits(beginning digits: Substring) throws -> [Candidate] {
        guard let number = Int64(digits), number > 0, number <= store.head.commit else { return [] }
        let numbers = [number] + (0...9).map { number &* 10 &+ $0 }
        return try numbers.filter { $0 >= number && $0 <= store.head.commit }.compactMap { number in
            try store.index.commit(number).map { Candidate(text: "t:\(number)", about: Self.about($0.info)) }
        }
    }

    private static func about(_ commit: CommitInfo) -> String {
        let parts = [
            Timestamp.shown(commit.time), CommitText.author(commit.metadata), CommitText.reason(commit.metadata),
        ]
        return TerminalText.visible(parts.filter { !$0.isEmpty }.joined(separator: "  "))
    }

    private func tagNames() throws -> [Candidate] {
        var found: [Candidate] = []
        try store.tags.forEachTag { tag in
            found.append(Candidate(text: tag.name, about: TerminalText.visible(tag.note ?? "")))
            return found.count < Self.tags
        }
        return found
    }

    /// Returns the actors of the newest commits, newest first.
    private func actors(_ name: (CommitMetadata) -> String?) throws -> [Candidate] {
        var seen: Set<String> = []
        var found: [Candidate] = []
        var query = LogQuery()
        query.descending = true
        let oldest = store.head.position - Self.actorEvents
        try store.log.forEachPart(query, catalog: store.catalog) { batch, part in
            if let name = name(part.info.metadata), seen.insert(name).inserted { found.append(Candidate(text: name)) }
            return batch.header.first > oldest
        }
        return found
    }
}
