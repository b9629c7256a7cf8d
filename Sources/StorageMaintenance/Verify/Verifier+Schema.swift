internal import CSQLite
internal import Foundation
package import StorageCore
internal import StorageHistory
internal import StorageLog
internal import StorageProjections

// Checks of what isn't in events: the file, the engine's own tables, and rows in them that don't come from the log.

extension Verifier {
    mutating func checkFile() throws {
        let check = try FileCheck(database, limit: 20)
        for problem in check.problems { report.add("file", problem) }
        if let missing = check.missingForPages {
            report.warn(
                "file", "its pages weren't verified as a whole: \(missing) isn't registered in this process")
        }
        for part in check.unchecked {
            report.warn(
                "file", table: part.table,
                "its indexes and constraints weren't verified: \(part.missing) isn't registered in this process")
        }
        let references = try ForeignKeyCheck(database)
        for broken in references.broken {
            report.add(
                "file", table: broken.table, "a foreign key refers to a missing row", isInvalidReference: true)
        }
        for part in references.unresolved { report.warn("schema", table: part.table, part.reason) }
    }

    mutating func checkSchema() throws {
        let expected = StoreLayout.objects
        var found: [String: String] = [:]
        let select = try PreparedStatement(
            database, "SELECT name, sql FROM sqlite_schema WHERE name LIKE 'storage\\_%' ESCAPE '\\'")
        while try select.step() { found[select.string(0)] = select.string(1) }
        for (name, sql) in expected where found[name] != sql {
            report.add("schema", "\(name) isn't what StorageKit made")
        }
        let indexes = try FullTextIndex.load(database).flatMap { [$0.table] + $0.shadowTables }
        let projections = try StoredProjection.all(in: database)
        for projection in projections {
            for finding in try projection.tables.findings(database) {
                report.add("schema", table: projection.name, finding)
            }
        }
        var guards: [String] = []
        if try WriteGuard.isOn(database) {
            let catalog = try Catalog.load(database)
            guards = catalog.live.flatMap(WriteGuard.triggers).map(\.name)
            for entity in try WriteGuard.unguarded(catalog, database) {
                report.add("schema", table: entity.name, "its write guard isn't what StorageKit made")
            }
        }
        let known = Set(
            expected.map(\.name) + guards + indexes + projections.flatMap { $0.tables.objects.keys }
                + (try ShadowTable.tables(database)))
        for name in found.keys.sorted() where !known.contains(name) {
            report.add("schema", "\(name) isn't one of StorageKit's tables")
        }
        try checkAttached(to: Set(expected.map(\.name) + indexes), knowing: known)
        try checkStatements()
        try guarded("schema") { try $0.checkCheckpoints(projections.map(\.name)) }
        let meta = try PreparedStatement(database, "SELECT count(*) FROM storage_meta")
        if try meta.step(), meta.integer(0) != 1 { report.add("schema", "storage_meta has \(meta.integer(0)) rows") }
    }

    /// Checks triggers and indexes on the engine's tables, whatever their names: a trigger there could change other
    /// tables with each commit, or before anything is recorded.
    private mutating func checkAttached(to tables: Set<String>, knowing known: Set<String>) throws {
        let select = try PreparedStatement(
            database,
            "SELECT type, name, tbl_name FROM sqlite_schema WHERE type IN ('trigger', 'index') AND sql IS NOT NULL ORDER BY name"
        )
        while try select.step() {
            guard tables.contains(select.string(2)), !known.contains(select.string(1)) else { continue }
            report.add(
                "schema", "the \(select.string(0)) \(select.string(1)) on \(select.string(2)) isn't StorageKit's")
        }
    }

    /// Checks that the SQL of each object is only the statement that creates it: SQLite ignores what follows.
    private mutating func checkStatements() throws {
        let select = try PreparedStatement(
            database, "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
        while try select.step() {
            let (type, name) = (select.string(0), select.string(1))
            if (try? SchemaStatement(select.string(2), type: type, named: name)) == nil {
                report.add("schema", "the SQL of the \(type) \(name) isn't one statement that creates it")
            }
        }
    }

    /// Checks that every projection has a valid checkpoint, and that there are no checkpoints or dead letters of
    /// others.
    private mutating func checkCheckpoints(_ names: [String]) throws {
        let head = try LogHead.load(database).position
        let select = try PreparedStatement(database, "SELECT projection, position FROM storage_checkpoint")
        var missing = Set(names)
        while try select.step() {
            let name = select.string(0)
            if missing.remove(name) == nil { report.add("projection", "\(name) has a checkpoint, but isn't there") }
            try guarded("projection") { _ = try Checkpoint.load(name, $0.database) }
            if !(0...head).contains(select.integer(1)) {
                report.add("projection", table: name, "is at @\(select.integer(1)), and the log ends at @\(head)")
            }
        }
        for name in missing.sorted() { report.add("projection", table: name, "has no checkpoint") }
        let letters = try PreparedStatement(database, "SELECT projection, position FROM storage_dead_letter")
        while try letters.step() {
            guard !names.contains(letters.string(0)) || !(1...max(head, 1)).contains(letters.integer(1)) else {
                continue
            }
            report.add("projection", table: letters.string(0), "has a dead letter @\(letters.integer(1)) of nothing")
        }
    }
}

// MARK: Bookkeeping

extension Verifier {
    /// Checks rows that aren't in events, so that only their form and their positions can be checked.
    mutating func checkBookkeeping(_ catalog: Catalog) throws {
        let head = try LogHead.load(database).position
        let epoch = try PreparedStatement(
            database, "SELECT 1 FROM storage_meta WHERE typeof(writer_epoch) <> 'integer' OR writer_epoch < 0")
        if try epoch.step() { report.add("bookkeeping", "storage_meta has a writer_epoch that isn't a number") }
        try guarded("bookkeeping") { verifier in
            let lineage = try StoreLineage.load(verifier.database)
            guard let last = lineage.lines.last, last.fork > head else { return }
            verifier.report.add("bookkeeping", "the store's lineage begins behind its log, at @\(last.fork)")
        }
        // Keys of commits that changed nothing: they are located between two events.
        try report(
            "storage_commit_key has a row \"%@\" of a commit that there can't have been",
            "SELECT key FROM storage_commit_key WHERE number < 0 OR typeof(number) <> 'integer'"
                + " OR number = 0 AND NOT (typeof(first) = 'integer' AND typeof(last) = 'integer' AND last BETWEEN 0 AND \(head)"
                + " AND first = last + 1 AND typeof(time) = 'integer')")
        try report(
            "storage_import has a row \"%@\" that no import has left",
            "SELECT source FROM storage_import WHERE source GLOB '*[^0-9a-z]*' OR progress GLOB '*[^0-9 ]*'"
                + " OR progress NOT GLOB '[0-9]* [0-9]* [0-9]*'")
        let entities = catalog.entities.map { String($0.id) }.joined(separator: ", ")
        try report(
            "storage_shadow has a row of entity %@ that no rebuild has left",
            "SELECT entity FROM storage_shadow WHERE entity NOT IN (\(entities)) OR typeof(position) <> 'integer'"
                + " OR position NOT BETWEEN 0 AND \(head)")
    }

    private mutating func report(_ message: String, _ sql: String) throws {
        let select = try PreparedStatement(database, sql)
        while try select.step(), !report.isTruncated {
            report.add("bookkeeping", message.replacing("%@", with: select.string(0)))
        }
    }
}

extension StorageError {
    /// The error in a message of SQLite's own check, if it couldn't read a page because of a lack of memory or the
    /// disk; nil if the message is about damage.
    package static func unreadPage(_ message: String) -> StorageError? {
        guard let match = message.range(of: "error code="),
            let code = Int32(message[match.upperBound...].prefix { $0.isNumber })
        else { return nil }
        let error = StorageError.sqlite(code: code, message: message, sql: nil)
        return error.isOfTheMachine ? error : nil
    }
}
