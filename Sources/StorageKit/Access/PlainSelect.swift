internal import StorageCore

/// A SELECT from one table whose condition compares columns with constants, as far as its text proves it.
///
/// Supports integers and texts, `=`, `<>`, `<`, `<=`, `>`, `>=`, `IN`, `BETWEEN`, `IS NULL` and `IS NOT NULL`, joined by AND. A statement with
/// anything else in its condition, with a second SELECT, or with a comment isn't plain. Nor is one that names the rowid, which changes when a row is
/// deleted and inserted again, or one with any other IN, which may read a view.
struct PlainSelect: Equatable {
    /// A column, as written in the statement, and its comparison.
    struct Term: Equatable {
        enum Test: Equatable {
            case comparison(RowPredicate.Comparison, StorageValue)
            case among([StorageValue])
            case between(StorageValue, StorageValue)
            case isNull
            case isNotNull
        }

        let column: String
        let test: Test

        fileprivate var isList: Bool {
            if case .among = test { return true }
            return false
        }
    }

    let table: String
    private(set) var terms: [Term] = []

    /// - Returns: Nil for a statement that isn't plain.
    init?(_ sql: String) {
        guard let tokens = try? SQLToken.tokens(of: sql) else { return nil }
        let compounds: Set<String> = ["WITH", "UNION", "INTERSECT", "EXCEPT", "VALUES", "JOIN"]
        guard tokens.first?.isWord("SELECT") == true,
            tokens.count(where: { $0.isWord("SELECT") }) == 1, !tokens.contains(where: \.isRowid),
            !tokens.contains(where: { token in compounds.contains { token.isWord($0) } }),
            let from = tokens.firstIndex(where: { $0.isWord("FROM") })
        else { return nil }
        var rest = tokens[(from + 1)...]
        guard let table = rest.popName() else { return nil }
        self.table = table
        var name = table
        if rest.first?.isWord("AS") == true { rest.removeFirst() }
        if rest.first?.isWord("WHERE") == false {
            guard let alias = rest.popName() else { return nil }
            name = alias
        }
        guard rest.popWord("WHERE") else { return nil }
        repeat {
            guard let term = rest.popTerm(of: name) else { return nil }
            terms.append(term)
        } while rest.popWord("AND")
        guard tokens.count(where: { $0.isWord("IN") }) == terms.count(where: \.isList) else { return nil }
        if rest.first == .symbol(";") { rest.removeFirst() }
        guard let next = rest.first else { return }
        guard ["GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT"].contains(where: next.isWord) else { return nil }
    }
}

extension SQLToken {
    fileprivate var isRowid: Bool {
        switch self {
        case .word(let name), .name(let name): ["rowid", "oid", "_rowid_"].contains(name.lowercased())
        default: false
        }
    }
}

extension ArraySlice<SQLToken> {
    fileprivate mutating func popWord(_ word: String) -> Bool {
        guard first?.isWord(word) == true else { return false }
        removeFirst()
        return true
    }

    fileprivate mutating func pop(_ symbol: String) -> Bool {
        guard first == .symbol(symbol) else { return false }
        removeFirst()
        return true
    }

    fileprivate mutating func popName() -> String? {
        switch first {
        case .word(let name), .name(let name):
            removeFirst()
            return name
        default: return nil
        }
    }

    /// Removes and returns an integer or a text.
    fileprivate mutating func popConstant() -> StorageValue? {
        let sign = pop("-") ? "-" : ""
        switch popFirst() {
        case .number(let digits):
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return Int64(sign + digits).map { .integer($0) }
        case .text(let text) where sign.isEmpty: return .text(text)
        default: return nil
        }
    }

    fileprivate mutating func popTerm(of table: String) -> PlainSelect.Term? {
        // Unquoted, these are functions and constants even if a column has the same name.
        let constants = ["CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "NULL", "NOT", "CASE", "CAST", "EXISTS"]
        guard !constants.contains(where: { first?.isWord($0) == true }), var column = popName() else { return nil }
        if pop(".") {
            guard column.lowercased() == table.lowercased(), let name = popName() else { return nil }
            column = name
        }
        guard let test = popTest() else { return nil }
        return PlainSelect.Term(column: column, test: test)
    }

    private mutating func popTest() -> PlainSelect.Term.Test? {
        if popWord("IS") {
            let isNegated = popWord("NOT")
            guard popWord("NULL") else { return nil }
            return isNegated ? .isNotNull : .isNull
        }
        if popWord("IN") {
            guard pop("(") else { return nil }
            var values: [StorageValue] = []
            repeat {
                guard let value = popConstant() else { return nil }
                values.append(value)
            } while pop(",")
            return pop(")") ? .among(values) : nil
        }
        if popWord("BETWEEN") {
            guard let lower = popConstant(), popWord("AND"), let upper = popConstant() else { return nil }
            return .between(lower, upper)
        }
        guard case .symbol(let symbol)? = popFirst(), let comparison = RowPredicate.Comparison(sql: symbol),
            let value = popConstant()
        else { return nil }
        return .comparison(comparison, value)
    }
}
