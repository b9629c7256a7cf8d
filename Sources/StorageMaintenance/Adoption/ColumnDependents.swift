internal import StorageCore
internal import StorageLog

/// The views and triggers that can still be compiled when a table they read gets one more column, but mean something else:
///
/// - `NATURAL` compares `_position`, which differs in every two tables;
/// - `UNION`, `EXCEPT` and `INTERSECT` of `*` compare it, too;
/// - `ORDER BY` and `GROUP BY` with the number of a column after it mean another one;
/// - a trigger that copies `*` writes it into a column of the user's.
///
/// Their texts are read, because SQLite can't report it: its authorizer is asked neither about the columns that `NATURAL` compares,
/// nor before the column exists.
struct ColumnDependents {
    private var views: [ExactText: Dependent] = [:]
    private var dependents: [Dependent] = []

    init(_ database: Connection) throws {
        let select = try PreparedStatement(
            database,
            """
            SELECT type, name, sql FROM sqlite_schema
            WHERE type IN ('view', 'trigger') AND name NOT LIKE 'storage\\_%' ESCAPE '\\' ORDER BY type, name
            """)
        while try select.step() {
            // SQLite has parsed what it stored, so it can be split.
            guard let tokens = try? SQLToken.tokens(of: select.string(2), skippingComments: true) else { continue }
            let use = Dependent(
                isTrigger: select.string(0) == "trigger", name: select.string(1), uses: ColumnUses(tokens))
            if !use.isTrigger { views[use.name.folded] = use }
            if use.obstacle != nil { dependents.append(use) }
        }
        for index in dependents.indices { dependents[index].uses.sources = sources(of: dependents[index]) }
    }

    /// What prevents a table from getting the column; nil if nothing does.
    func obstacle(to table: String) -> AdoptionPlan.Obstacle? {
        dependents.first { $0.uses.sources.contains(table.folded) }?.obstacle
    }

    /// What an object reads, also through views that show all the columns of what they read.
    private func sources(of object: Dependent) -> Set<ExactText> {
        var all = object.uses.sources
        var rest = Array(all)
        while let name = rest.popLast() {
            guard let view = views[name], view.uses.selectsAll else { continue }
            for source in view.uses.sources where all.insert(source).inserted { rest.append(source) }
        }
        return all
    }
}

private struct Dependent {
    let isTrigger: Bool
    let name: String
    var uses: ColumnUses

    /// What prevents the tables that it names from being adopted; nil if it means the same with one more column.
    var obstacle: AdoptionPlan.Obstacle? {
        let title = "the \(isTrigger ? "trigger" : "view") \"\(name)\""
        if uses.joinsNaturally {
            return .init(
                reason: "\(title) joins with NATURAL, which would compare the column _position too",
                remedy: "Write JOIN … USING with the columns in it instead, then adopt.")
        }
        if uses.countsAll, !isTrigger {
            return .init(
                reason: "\(title) orders or groups * by a column's number, which the column _position would change",
                remedy: "Write the column's name in it instead of the number, then adopt.")
        }
        guard isTrigger ? uses.selectsAll : uses.combinesAll else { return nil }
        let use = isTrigger ? "reads *" : "combines * by UNION, EXCEPT or INTERSECT"
        return .init(
            reason: "\(title) \(use), which would mean the column _position too",
            remedy: "Name the columns in it instead of *, then adopt.")
    }
}

/// How a statement names the columns and tables that it reads, by its text. `EXISTS (SELECT * …)` and `count(*)` depend on no column.
private struct ColumnUses {
    /// The tables and views after `FROM` and `JOIN`, and other names that may be one; also those after `INTO` without columns,
    /// which get as many values as are read.
    var sources: Set<ExactText> = []
    /// Whether there is a `*` that means columns.
    private(set) var selectsAll = false
    /// Whether there is one in a compound select.
    private(set) var combinesAll = false
    /// Whether one is ordered or grouped by the number of a column.
    private(set) var countsAll = false
    private(set) var joinsNaturally = false

    init(_ tokens: [SQLToken]) {
        // One level for each open parenthesis.
        var levels = [Level()]
        for (index, token) in tokens.enumerated() {
            let former = tokens[..<index]
            let next = index + 1 < tokens.count ? tokens[index + 1] : .symbol(";")
            switch token {
            case .symbol("("): levels.append(Level())
            case .symbol(")") where levels.count > 1: levels.removeLast()
            case .symbol(";"): levels = [Level()]
            case .symbol("*") where Self.meansColumns(after: former):
                selectsAll = true
                levels[levels.count - 1].selectsAll = true
            case .word where ["UNION", "EXCEPT", "INTERSECT"].contains(where: token.isWord):
                levels[levels.count - 1].isCompound = true
            case .word where token.isWord("BY"): levels[levels.count - 1].isOrdered = true
            case .word where token.isWord("LIMIT"): levels[levels.count - 1].isOrdered = false
            case .number(let number) where Self.isColumn(number):
                // Parentheses around it don't change what it means.
                let open = former.reversed().prefix { $0 == .symbol("(") }.count
                if open < levels.count, levels[levels.count - 1 - open].countsAll,
                    Self.isTerm(after: former.dropLast(open), before: tokens[(index + 1)...].dropFirst(open))
                {
                    countsAll = true
                }
            case .word where token.isWord("NATURAL"):
                if Self.joins.contains(where: next.isWord) { joinsNaturally = true }
            case .word(let name), .name(let name), .text(let name):
                let isTarget = former.last?.isWord("INTO") == true && next != .symbol("(")
                if isTarget || Self.isSource(after: former) { sources.insert(name.folded) }
            default: break
            }
            if levels[levels.count - 1].combinesAll { combinesAll = true }
        }
    }

    private struct Level {
        var selectsAll = false
        var isCompound = false
        /// Whether the terms of `ORDER BY` or `GROUP BY` have begun.
        var isOrdered = false
        var combinesAll: Bool { selectsAll && isCompound }
        var countsAll: Bool { selectsAll && isOrdered }
    }

    /// Whether a number may be that of a column. The first one is the same with one more column.
    private static func isColumn(_ number: String) -> Bool {
        !number.contains(".") && number != "1"
    }

    /// Whether what is between two tokens is all of a term of `ORDER BY` or `GROUP BY`.
    private static func isTerm(after former: ArraySlice<SQLToken>, before next: ArraySlice<SQLToken>) -> Bool {
        guard let last = former.last, last.isWord("BY") || last == .symbol(",") else { return false }
        guard let next = next.first else { return true }
        return [.symbol(","), .symbol(")"), .symbol(";")].contains(next) || termEnds.contains(where: next.isWord)
    }

    private static let termEnds = ["ASC", "DESC", "NULLS", "COLLATE", "HAVING", "WINDOW", "ORDER", "LIMIT"]

    private static let joins = ["JOIN", "INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS"]

    private static func meansColumns(after former: ArraySlice<SQLToken>) -> Bool {
        guard let last = former.last else { return false }
        if last == .symbol(",") || last == .symbol(".") { return true }
        guard ["SELECT", "DISTINCT", "ALL"].contains(where: last.isWord) else { return false }
        return !(last.isWord("SELECT") && former.dropLast(2).last?.isWord("EXISTS") == true)
    }

    private static func isSource(after former: ArraySlice<SQLToken>) -> Bool {
        guard let last = former.last else { return false }
        if last.isWord("FROM") { return former.dropLast().last?.isWord("DELETE") != true }
        return last.isWord("JOIN") || [.symbol(","), .symbol("("), .symbol(".")].contains(last)
    }
}
