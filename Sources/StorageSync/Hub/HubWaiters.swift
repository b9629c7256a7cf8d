internal import StorageCore
internal import StorageLog

/// The followers of a hub that wait for a change, indexed by what concerns them.
///
/// A follower's access is usually a condition like `owner = 'anna'`, with a different text for each follower. A change is evaluated only against
/// conditions that require a text of its row and those that require none, so the cost of a write doesn't grow with followers that it doesn't concern.
struct HubWaiters<Waiter> {
    private struct Entry {
        let scope: HubScope
        let waiter: Waiter
    }

    private var entries: [Int: Entry] = [:]
    private var byText: [HubScope.Anchor: Set<Int>] = [:]
    /// Followers of ``byText``, by entity and column.
    private var byColumn: [String: [String: Set<Int>]] = [:]
    /// Followers whose conditions require no text.
    private var others: Set<Int> = []
    /// Followers that any change wakes.
    private var impatient: Set<Int> = []

    var count: Int { entries.count }
    /// Whether nothing is left of removed followers.
    var isEmpty: Bool {
        entries.isEmpty && byText.isEmpty && byColumn.values.allSatisfy(\.isEmpty) && others.isEmpty
            && impatient.isEmpty
    }

    /// - Parameter isImpatient: Whether any change wakes it.
    mutating func insert(_ waiter: Waiter, _ id: Int, in scope: HubScope, isImpatient: Bool) {
        entries[id] = Entry(scope: scope, waiter: waiter)
        if isImpatient { impatient.insert(id) }
        guard let anchors = scope.anchors else {
            others.insert(id)
            return
        }
        for anchor in anchors {
            byText[anchor, default: []].insert(id)
            byColumn[anchor.entity, default: [:]][anchor.column, default: []].insert(id)
        }
    }

    mutating func remove(_ id: Int) -> Waiter? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        impatient.remove(id)
        others.remove(id)
        for anchor in entry.scope.anchors ?? [] {
            byText[anchor]?.remove(id)
            if byText[anchor]?.isEmpty ?? false { byText[anchor] = nil }
            byColumn[anchor.entity]?[anchor.column]?.remove(id)
            if byColumn[anchor.entity]?[anchor.column]?.isEmpty ?? false {
                byColumn[anchor.entity]?[anchor.column] = nil
            }
        }
        return entry.waiter
    }

    mutating func removeAll() -> [Waiter] {
        defer { self = HubWaiters() }
        return entries.values.map(\.waiter)
    }

    /// Removes the followers that changes concern.
    mutating func removeConcerned(by changes: [HubChange]) -> [Waiter] {
        var concerned = impatient
        for change in changes {
            for candidates in [others, candidates(of: change)] {
                for id in candidates where !concerned.contains(id) {
                    if entries[id]?.scope.concerns(change) ?? false { concerned.insert(id) }
                }
            }
        }
        return concerned.compactMap { remove($0) }
    }

    /// Followers whose condition requires a column's old or new value.
    func candidates(of change: HubChange) -> Set<Int> {
        var found: Set<Int> = []
        let table = change.table
        for (name, waiting) in byColumn[table.name] ?? [:] {
            // Without such a column, no row is visible.
            guard let index = table.comparedColumns.firstIndex(where: { $0.name == name }) else { continue }
            for row in [change.comparedNew, change.comparedOld] {
                switch row?[index] {
                case nil, .null: continue
                case .text(let text) where table.comparedColumns[index].comparesBytes:
                    found.formUnion(byText[HubScope.Anchor(entity: table.name, column: name, text: text)] ?? [])
                case .text, .integer, .real, .blob: found.formUnion(waiting)
                }
            }
        }
        return found
    }
}

extension CatalogColumn {
    /// Whether texts in the column are compared by their bytes.
    fileprivate var comparesBytes: Bool {
        [.text, .blob].contains(affinity) && collation.uppercased() == RowPredicate.Collation.binary.rawValue
    }
}
