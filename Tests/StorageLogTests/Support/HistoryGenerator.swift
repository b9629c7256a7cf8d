import GRDB
import SchemaTestSupport
import StorageCore
import StorageEntities
import TestSupport

@testable import StorageLog

/// Makes up a history in which tables and columns come, change their names and go while rows are written.
struct HistoryGenerator {
    var random: SplitMix64
    private var values: StatementGenerator
    private var tables: [Table] = []
    private var names = 0
    /// Names of columns that are gone, to be given to others.
    private var freed: [String] = []

    private struct Table {
        var name: String
        var keys: [String]
        var columns: [String]
        /// Types that columns were converted to.
        var types: [String: String] = [:]
    }

    /// Whether columns are converted and tables recreated, too.
    private let changesShapes: Bool

    init(seed: UInt64, changesShapes: Bool = false) {
        self.changesShapes = changesShapes
        random = SplitMix64(seed: seed)
        values = StatementGenerator(seed: seed &+ 1)
    }

    /// A part of a commit.
    enum Step {
        case sql(String)
        /// Makes the table of an entity.
        case table(name: String, sql: String)
        /// Gives a column another type; the title says which.
        case convert(column: String, table: String, title: String)
        /// Makes a table anew, which is to be reconciled with the log then.
        case anew([String])
    }

    mutating func commit() -> [Step] {
        var steps: [Step] = []
        // That can't share a commit with other changes of the rows.
        if changesShapes, !tables.isEmpty, random.chance(8) { return [makeAnew(random.below(tables.count))] }
        if tables.isEmpty || random.chance(8), tables.count < 4 { steps.append(createTable()) }
        for _ in 0...random.below(3) {
            let kind = random.below(100)
            guard !tables.isEmpty else { break }
            let index = random.below(tables.count)
            switch kind {
            case 0..<35: steps.append(.sql(insert(index)))
            case 35..<65: steps.append(.sql(update(index)))
            case 65..<80: steps.append(.sql(delete(index)))
            case 80..<86: steps.append(.sql(addColumn(index)))
            case 86..<89: steps.append(.sql(renameColumn(index)))
            case 89..<93: steps.append(.sql(dropColumn(index)))
            case 93..<95: steps.append(.sql(renameTable(index)))
            case 95..<97: steps += dropTable(index)
            default: steps.append(.sql("DELETE FROM \(tables[index].name) WHERE \(random.below(2))"))
            }
        }
        if changesShapes, !tables.isEmpty, random.chance(12) { steps += convert(random.below(tables.count)) }
        return steps
    }

    private mutating func convert(_ index: Int) -> [Step] {
        guard !tables[index].columns.isEmpty else { return [] }
        let column = random.pick(tables[index].columns)
        let type = random.pick(["TEXT", "INTEGER"])
        tables[index].types[column] = type
        return [.convert(column: column, table: tables[index].name, title: name("\(type) "))]
    }

    private mutating func makeAnew(_ index: Int) -> Step {
        let table = tables[index]
        let columns = table.keys.map { "\($0) NOT NULL" } + table.columns.map { "\($0) \(table.types[$0] ?? "")" }
        let extra = name("c")
        tables[index].columns.append(extra)
        let names = (table.keys + table.columns).joined(separator: ", ")
        return .anew([
            """
            CREATE TABLE anew(\(columns.joined(separator: ", ")), \(extra) DEFAULT \(random.pick(["NULL", "7", "'x'"])), \
            PRIMARY KEY (\(table.keys.joined(separator: ", "))))
            """, "INSERT INTO anew(\(names)) SELECT \(names) FROM \(table.name) WHERE \(condition(table))",
            "DROP TABLE \(table.name)", "ALTER TABLE anew RENAME TO \(table.name)",
        ])
    }

    /// What a conversion does, by its title.
    static func upcast(_ title: String) -> @Sendable (StorageValue) -> StorageValue {
        if title.hasPrefix("TEXT") { return { value in .text("\(value)") } }
        return { value in .integer(Int64("\(value)".utf8.count)) }
    }

    private mutating func name(_ prefix: String) -> String {
        names += 1
        return "\(prefix)\(names)"
    }

    private mutating func createTable(named name: String? = nil) -> Step {
        let isComposite = random.chance(30)
        let table = Table(
            name: name ?? self.name("t"), keys: isComposite ? ["k", "l"] : ["k"], columns: ["a", self.name("c")])
        tables.append(table)
        let columns = (table.keys.map { "\($0) NOT NULL" } + table.columns).joined(separator: ", ")
        return .table(
            name: table.name,
            sql:
                "CREATE TABLE \(table.name)(\(columns), _position INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (\(table.keys.joined(separator: ", "))))"
        )
    }

    private mutating func key() -> String { random.pick(["1", "2", "3", "1.0", "'1'", "'a'", "'b'", "x'31'", "x''"]) }

    private mutating func condition(_ table: Table) -> String {
        let key = key()
        return "k \(random.pick(["=", "=", ">", "<>"])) \(key)"
    }

    private mutating func insert(_ index: Int) -> String {
        let table = tables[index]
        let rows = (0...random.below(5)).map { _ in
            "(\((table.keys.map { _ in key() } + table.columns.map { _ in values.value() }).joined(separator: ", ")))"
        }
        let names = (table.keys + table.columns).joined(separator: ", ")
        let verb = random.pick(["INSERT OR IGNORE", "INSERT OR REPLACE"])
        return "\(verb) INTO \(table.name)(\(names)) VALUES \(rows.joined(separator: ", "))"
    }

    private mutating func update(_ index: Int) -> String {
        let table = tables[index]
        if table.columns.isEmpty || random.chance(10) {
            return "UPDATE OR REPLACE \(table.name) SET k = \(key()) WHERE \(condition(table))"
        }
        let columns = table.columns.filter { _ in random.chance(50) } + [random.pick(table.columns)]
        let assignments = Set(columns).sorted().map { "\($0) = \(values.value())" }
        return "UPDATE \(table.name) SET \(assignments.joined(separator: ", ")) WHERE \(condition(table))"
    }

    private mutating func delete(_ index: Int) -> String {
        "DELETE FROM \(tables[index].name) WHERE \(condition(tables[index]))"
    }

    private mutating func addColumn(_ index: Int) -> String {
        let old = freed.filter { !tables[index].columns.contains($0) }
        let column = !old.isEmpty && random.chance(50) ? random.pick(old) : name("c")
        tables[index].columns.append(column)
        let fallback = random.pick(["", "", " DEFAULT 7", " DEFAULT 'x'", " NOT NULL DEFAULT x'00'"])
        if fallback.contains("NOT NULL") { tables[index].columns.removeLast() }
        return
            "ALTER TABLE \(tables[index].name) ADD COLUMN \(fallback.contains("NOT NULL") ? name("n") : column)\(fallback)"
    }

    private mutating func renameColumn(_ index: Int) -> String {
        guard !tables[index].columns.isEmpty else { return delete(index) }
        let place = random.below(tables[index].columns.count)
        let old = tables[index].columns[place]
        tables[index].columns[place] = name("c")
        // A table that is recreated keeps the types: the catalog goes by them.
        tables[index].types[tables[index].columns[place]] = tables[index].types.removeValue(forKey: old)
        return "ALTER TABLE \(tables[index].name) RENAME COLUMN \(old) TO \(tables[index].columns[place])"
    }

    private mutating func dropColumn(_ index: Int) -> String {
        guard !tables[index].columns.isEmpty else { return delete(index) }
        let column = tables[index].columns.remove(at: random.below(tables[index].columns.count))
        tables[index].types[column] = nil
        freed.append(column)
        return "ALTER TABLE \(tables[index].name) DROP COLUMN \(column)"
    }

    private mutating func renameTable(_ index: Int) -> String {
        let old = tables[index].name
        tables[index].name = name("t")
        return "ALTER TABLE \(old) RENAME TO \(tables[index].name)"
    }

    /// With or without deleting the rows first; another table may take the name in a later commit.
    private mutating func dropTable(_ index: Int) -> [Step] {
        let table = tables.remove(at: index)
        let drop = Step.sql("DROP TABLE \(table.name)")
        if random.chance(50) { free = table.name }
        return random.chance(50) ? [.sql("DELETE FROM \(table.name)"), drop] : [drop]
    }

    private var free: String?

    /// A commit that gives the name of a dropped table to another one.
    mutating func reuse() -> [Step] {
        guard let name = free else { return [] }
        free = nil
        return [createTable(named: name)]
    }
}

extension StorageEngine {
    /// One commit of steps that were made up.
    func commit(_ steps: [HistoryGenerator.Step], _ metadata: CommitMetadata) async throws -> CommitReceipt {
        try await commit(metadata) { writer, db in
            for step in steps {
                switch step {
                case .sql(let sql): try db.execute(sql: sql)
                case .table(let name, let sql): try writer.adopt(db, name, sql)
                case .convert(let column, let table, let title):
                    let type = String(title.prefix { $0 != " " })
                    try writer.schemaChanged()
                    var awaited = AwaitedColumns()
                    try writer.convertColumn(
                        column, of: table, to: ColumnSchema(name: column, type: type), title: title,
                        awaiting: &awaited, HistoryGenerator.upcast(title))
                case .anew(let statements):
                    for sql in statements { try db.execute(sql: sql) }
                    try RecreatedTableReconciliation(writer).reconcile()
                }
            }
        }
    }
}
