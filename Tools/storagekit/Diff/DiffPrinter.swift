import StorageKit

/// Writes a difference.
final class DiffPrinter {
    private struct Counts {
        var rows = CommitSummary.Counts()
        var cells = 0
    }

    /// The content to print.
    enum Content {
        case rows
        /// The rows; of inserted and deleted ones only the keys.
        case keys
        /// The number of rows and values of each table.
        case counts
        /// The tables that differ, and the changes of their schema.
        case tables
        /// Statements that turn the first state into the second.
        case statements
    }

    private let content: Content
    private let store: HistoryReader
    private let difference: NetDifference
    private let selection: DiffSelection
    private let output: ResultOutput

    init(
        _ content: Content, of difference: NetDifference, in store: HistoryReader, selecting selection: DiffSelection,
        to output: ResultOutput
    ) {
        self.content = content
        self.store = store
        self.difference = difference
        self.selection = selection
        self.output = output
    }

    /// - Returns: Whether anything differs.
    func run() throws -> Bool {
        let differs: Bool
        switch content {
        case .rows, .keys: differs = try writeChanges()
        case .counts, .tables:
            try read(after: nil)
            differs = try writeCounts()
        case .statements:
            try read(after: nil)
            differs = try writeStatements()
        }
        try output.finish()
        return differs
    }

    /// Reads the events between the points.
    private func read(after resumePoint: NetDifference.ResumePoint?) throws {
        let (lower, upper) = (min(difference.from, difference.to), max(difference.from, difference.to))
        let bar = ProgressBar("compare", total: Int(upper - lower), unit: "events")
        defer { bar.finish() }
        try difference.read(store.connection, after: resumePoint) { bar.update(Int($0 - lower)) }
    }

    /// Calls `body` with every change. If reading all events takes a while, the first few changes are searched for individually before, so that they
    /// appear at once.
    private func forEachChange(_ body: (NetChange) throws -> Void) throws {
        var resumePoint: NetDifference.ResumePoint?
        if (difference.to - difference.from).magnitude > Self.patience {
            try output.flush()
            let begin = ContinuousClock.now
            var hasPrinted = false
            resumePoint = try difference.forEachFirstChange(
                store.connection,
                while: { ContinuousClock.now - begin < (hasPrinted ? Self.headStart : searchTime) }
            ) { change in
                try body(change)
                hasPrinted = true
            }
            try output.flush()
        }
        try read(after: resumePoint)
        try difference.forEachChange(after: resumePoint) { change in
            try body(change)
            return true
        }
    }

    /// The number of events that are read without a noticeable delay.
    private static let patience = 2_000
    private static let headStart = Duration.milliseconds(25)
    /// The time limit of the search for the first rows; longer if there is more to read.
    private var searchTime: Duration {
        let events = (difference.to - difference.from).magnitude
        return max(.milliseconds(10), min(.microseconds(Int64(clamping: events) * 5), .milliseconds(250)))
    }

    /// `from @3 (t:1) to @20 (t:6)`, so that a relative point can be repeated exactly.
    private var heading: StyledLine {
        get throws {
            var line = StyledLine("from ", .dim)
            line.add(try store.pointLine(difference.from, .dim))
            line.add(" to ", .dim)
            line.add(try store.pointLine(difference.to, .dim))
            return line
        }
    }

    // MARK: Rows

    private func writeChanges() throws -> Bool {
        if output.format == .human {
            try output.line(heading)
            // The heading is shown before the first difference is found.
            try output.flush()
        }
        if output.format == .csv || output.format == .md {
            try output.titles(["op", "table", "id", "column", "old", "new"])
        }
        var totals = CommitSummary.Counts()
        var tables = difference.tables.filter { output.format == .human && $0.hasOtherSchema }[...]
        try forEachChange { change in
            guard let change = selection.narrowed(change) else { return }
            while let table = tables.first,
                table.name.utf8.lexicographicallyPrecedes(change.table.name.utf8)
                    || table.name.utf8.elementsEqual(change.table.name.utf8)
            {
                try output.line(table.schemaLine)
                tables = tables.dropFirst()
            }
            totals.add(change.operation)
            try write(change)
            try output.flushIfDue()
        }
        for table in tables { try output.line(table.schemaLine) }
        let rows = totals.insert + totals.update + totals.delete
        if output.format == .human {
            var line = StyledLine(
                rows == 0 ? "No row differs." : NumberText.count(rows, "row differs", plural: "rows differ"), .dim)
            if rows > 0 {
                line.add("  ")
                totals.add(to: &line)
            }
            try output.line(line)
        }
        return rows > 0 || difference.tables.contains(where: \.hasOtherSchema)
    }

    private func write(_ change: NetChange) throws {
        let row = RowDifference(change)
        switch output.format {
        case .human:
            try output.line(row.changeLine(indent: 0))
            guard content != .keys || row.operation == .update else { return }
            for line in row.columnLines(indent: 4) { try output.line(line) }
        case .json, .jsonl:
            try output.record(DiffRecord(row: row))
        case .csv, .md:
            let head: [String?] = [row.operation.rawValue, row.table, row.id]
            let columns = row.changedColumns()
            for column in columns {
                try output.row(
                    head + [
                        column.column, column.old.flatMap(ValueText.cell), column.new.flatMap(ValueText.cell),
                    ])
            }
            if columns.isEmpty { try output.row(head + [nil, nil, nil]) }
        }
    }

    // MARK: Counts

    private func writeCounts() throws -> Bool {
        var counts: [ExactText: Counts] = [:]
        try difference.forEachChange { change in
            guard let change = selection.narrowed(change) else { return true }
            counts[ExactText(change.table.name), default: Counts()].rows.add(change.operation)
            counts[ExactText(change.table.name), default: Counts()].cells += change.cells.count
            return true
        }
        let tables = difference.tables.filter { counts[ExactText($0.name)] != nil || $0.hasOtherSchema }
        if output.format == .human {
            try output.line(heading)
            try writeLayout(tables, counts)
            return !tables.isEmpty
        }
        let isTable = output.format == .csv || output.format == .md
        if isTable {
            try output.titles(["table", "insert", "update", "delete", content == .counts ? "cells" : "schema"])
        }
        for table in tables {
            let count = counts[ExactText(table.name)] ?? Counts()
            let numbers = [count.rows.insert, count.rows.update, count.rows.delete]
            if isTable {
                let last = content == .counts ? "\(count.cells)" : table.schemaNotes.joined(separator: ", ")
                try output.row([table.name] + numbers.map { "\($0)" } + [last])
                continue
            }
            let detail = content == .counts ? DiffCountRecord.Detail.cells(count.cells) : .schema(table.schemaNotes)
            try output.record(DiffCountRecord(table: table.name, rows: count.rows, detail: detail))
        }
        return !tables.isEmpty
    }

    private func writeLayout(_ tables: [DifferenceTable], _ counts: [ExactText: Counts]) throws {
        guard !tables.isEmpty else { return try output.line("No row differs.", .dim) }
        var layout = TableLayout(
            [
                .init("table"), .init("insert", .right), .init("update", .right), .init("delete", .right),
                content == .counts ? .init("cells", .right) : .init("schema"),
            ], width: output.width)
        for table in tables {
            let count = counts[ExactText(table.name)] ?? Counts()
            layout.add([
                TableCell(table.name), TableCell("\(count.rows.insert)", count.rows.insert > 0 ? .added : .dim),
                TableCell("\(count.rows.update)", count.rows.update > 0 ? .changed : .dim),
                TableCell("\(count.rows.delete)", count.rows.delete > 0 ? .removed : .dim),
                TableCell(content == .counts ? "\(count.cells)" : table.schemaNotes.joined(separator: ", ")),
            ])
        }
        try output.lines(layout.lines(style: output.style))
    }

    // MARK: SQL

    /// What foreign keys did is among the changes. SQLite ignores this setting inside a transaction.
    private static let beginning = """
        -- Run this with sqlite3 -bail: without it, the shell continues after an error, and commits the rest.
        -- Foreign keys are off from here on, and stay off after the end: they would change rows again.
        PRAGMA foreign_keys = OFF;
        BEGIN;

        """

    private func writeStatements() throws -> Bool {
        try output.text("-- \(try heading.plain)\n")
        var hasBegun = false
        try DifferenceStatements(difference).forEach(where: selection.narrowed) { statement in
            if !hasBegun { try output.text(Self.beginning) }
            hasBegun = true
            try output.text(statement + "\n")
            try output.flushIfDue()
        }
        if hasBegun { try output.text("COMMIT;\n") }
        return hasBegun
    }
}

extension DifferenceTable {
    /// `table users  new, +name, -age, mail → email`
    var schemaLine: StyledLine {
        var line = StyledLine("table ", .dim)
        line.add(TargetArgument(table: name).description, .heading)
        line.addWord(schemaNotes.joined(separator: ", "), .changed)
        return line
    }

    /// The changes of the table and its columns, as text.
    var schemaNotes: [String] {
        guard let from else { return ["new"] }
        guard let to else { return ["dropped"] }
        if from.id != to.id { return ["recreated"] }
        var notes: [String] = []
        if !from.name.utf8.elementsEqual(to.name.utf8) { notes.append("was \(from.name)") }
        for (old, new) in zip(from.key, to.key) where !old.name.utf8.elementsEqual(new.name.utf8) {
            notes.append("\(old.name) → \(new.name)")
        }
        for column in columns {
            switch (column.from, column.to) {
            case (let old?, let new?) where old.id != new.id: notes.append("~\(new.name) \(old.type) → \(new.type)")
            case (let old?, let new?) where !old.name.utf8.elementsEqual(new.name.utf8):
                notes.append("\(old.name) → \(new.name)")
            case (nil, let new?): notes.append("+\(new.name)")
            case (let old?, nil): notes.append("-\(old.name)")
            default: break
            }
        }
        return notes
    }
}
