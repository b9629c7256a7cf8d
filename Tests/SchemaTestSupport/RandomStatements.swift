package import TestSupport

/// Makes up statements one by one.
package protocol RandomStatements {
    var random: SplitMix64 { get set }
    mutating func statement() -> String
}

extension RandomStatements {
    /// A few statements, some of them in savepoints, of which half are undone.
    ///
    /// - Parameter limit: The maximum number of statements and savepoints.
    package mutating func statements(upTo limit: Int) -> [String] {
        var statements: [String] = []
        for _ in 0...random.below(limit) {
            guard random.chance(20) else {
                statements.append(statement())
                continue
            }
            let end = random.chance(50) ? ["ROLLBACK TO point", "RELEASE point"] : ["RELEASE point"]
            statements += ["SAVEPOINT point", statement(), statement()] + end
        }
        return statements
    }
}
