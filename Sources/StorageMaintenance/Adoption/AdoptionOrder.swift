internal import StorageCore
internal import StorageLog

/// The order in which the rows of tables are recorded: after those that their foreign keys refer to. So each commit of a large
/// adoption is a state that a store can hold.
struct AdoptionOrder {
    /// Tables that come one after another.
    struct Group {
        /// The indices of their names.
        let tables: [Int]
        /// Whether rows of these tables can refer to one another, so that none of the tables has to come first.
        let isCyclic: Bool
    }

    let groups: [Group]

    /// - Parameter names: The tables; those that don't depend on each other stay in this order, as far as possible.
    init(_ names: [String], _ database: Connection) throws {
        let indices = Dictionary(names.enumerated().map { ($1.folded, $0) }, uniquingKeysWith: { first, _ in first })
        let select = try PreparedStatement(
            database, "SELECT DISTINCT \"table\" FROM temp.pragma_foreign_key_list(?1)")
        let parents = try names.map { name in
            select.bind(text: name, at: 1)
            defer { select.reset() }
            var found: [Int] = []
            while try select.step() {
                if let parent = indices[select.string(0).folded] { found.append(parent) }
            }
            return found
        }
        // A table needs all that one of its parents needs, and more. Tables that refer to each other need the same.
        let needed = names.indices.map { Self.reached(from: $0, by: parents) }
        let sets = Dictionary(grouping: names.indices, by: { needed[$0] })
        groups = sets.sorted { ($0.key.count, $0.value[0]) < ($1.key.count, $1.value[0]) }.map { _, members in
            Group(tables: members, isCyclic: members.count > 1 || parents[members[0]].contains(members[0]))
        }
    }

    /// - Returns: A table and all to which its foreign keys lead.
    private static func reached(from start: Int, by parents: [[Int]]) -> Set<Int> {
        var found: Set = [start]
        var rest = [start]
        while let next = rest.popLast() {
            for parent in parents[next] where found.insert(parent).inserted { rest.append(parent) }
        }
        return found
    }
}
