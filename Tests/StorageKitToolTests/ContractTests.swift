import Foundation
import StorageKit
import Testing

@testable import StorageKitTool

/// The JSON that programs read is what the types of `Contract` say, and nothing else writes keys.
@Suite struct ContractTests {
    /// A type of the contract, as its source has it.
    private struct Record {
        let name: String
        let documentation: String
        var keys: [String] = []
        let end: Substring
    }

    private static let tool = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Tools/storagekit")

    private static func sources(where isWanted: (String) -> Bool) throws -> [(path: String, text: String)] {
        let paths = FileManager.default.enumerator(atPath: tool.path)?.compactMap { $0 as? String } ?? []
        return try paths.sorted().filter { $0.hasSuffix(".swift") && isWanted($0) }.map { path in
            (path, try String(contentsOf: tool.appendingPathComponent(path), encoding: .utf8))
        }
    }

    private static func records(in text: String) -> [Record] {
        // A call that is broken before its first argument is a line again.
        let text = text.replacing(#/(json\.(?:member|key)\()\s+"/#) { "\($0.1)\"" }
        var found: [Record] = []
        var open: [Record] = []
        var comment: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let start = line.wholeMatch(of: #/(\s*)struct (\w+)(?:<.*>)?: JSONRecord \{/#) {
                let name = open.map { $0.name + "." }.last ?? ""
                open.append(
                    Record(
                        name: name + start.2, documentation: comment.joined(separator: "\n"), end: start.1 + "}"))
            }
            let isComment = line.contains(#/^\s*\/\/\//#)
            comment = isComment ? comment + [line] : []
            guard let last = open.indices.last else { continue }
            for key in line.matches(of: #/json\.(?:member|key)\("([a-z_]+)"/#).map({ String($0.1) })
            where !open[last].keys.contains(key) {
                open[last].keys.append(key)
            }
            if line == open[last].end { found.append(open.removeLast()) }
        }
        return found
    }

    private static func records() throws -> [Record] {
        try sources { $0.hasPrefix("Contract/") }.flatMap { records(in: $0.text) }.filter { !$0.keys.isEmpty }
    }

    /// A key that goes, or means another thing, takes another version; a new one is added here.
    @Test("The keys of the contract are these")
    func pinnedKeys() throws {
        #expect(Contract.version == 1)
        let lines = try Self.records().map { "\($0.name): \($0.keys.joined(separator: " "))" }
        #expect(lines.sorted() == Self.keys.split(separator: "\n").map(String.init))
    }

    @Test("Each key is documented")
    func documentedKeys() throws {
        for record in try Self.records() {
            for key in record.keys {
                #expect(record.documentation.contains("`\(key)`"), "\(record.name) doesn't say what \(key) means")
            }
        }
    }

    @Test("Nothing else writes keys")
    func keysOutsideContract() throws {
        for source in try Self.sources(where: { !$0.hasPrefix("Contract/") && !$0.hasPrefix("Support/JSON/") }) {
            #expect(!source.text.contains(#/\.(?:key|member)\("/#), "\(source.path)")
        }
    }

    // MARK: Members

    private struct Sample: JSONRecord {
        let body: (inout JSONWriter) throws -> Void
        func write(to json: inout JSONWriter) throws { try body(&json) }
    }

    private func text(_ body: @escaping (inout JSONWriter) throws -> Void) throws -> String {
        var json = JSONWriter()
        try json.object(Sample(body: body))
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test("Missing values are null")
    func missingValues() throws {
        let written = try text { json in
            json.member("a", nil as Int64?)
            json.member("b", nil as String?)
            json.member("c", time: nil)
            try json.member("d", nil as CountsRecord?)
            json.member("e", nil as StorageEvent.Field?)
            json.member("f", [])
        }
        #expect(written == #"{"a":null,"b":null,"c":null,"d":null,"e":null,"f":[]}"#)
    }

    @Test("Objects are nested")
    func nestedObjects() throws {
        var counts = CommitSummary.Counts()
        counts.insert = 1
        let record = CountsRecord(counts: counts)
        let written = try text { json in
            try json.member("one", record)
            try json.member("none", [CountsRecord]())
            try json.member("stream", JSONStream { body in for _ in 0..<2 { try body(record) } })
            json.member("byName", byName: ["b": 2, "a": 1]) { $0.integer($1) }
            json.member("last", true)
        }
        let one = #"{"insert":1,"update":0,"delete":0}"#
        #expect(
            written == #"{"one":\#(one),"none":[],"stream":[\#(one),\#(one)],"byName":{"a":1,"b":2},"last":true}"#)
    }

    private static let keys = """
        AbandonRecord: ok dry_run recorded
        AdoptRecord.Table: table adopted rows key reason remedy
        AdoptRecord: dry_run database store backup rows tables notes
        AnnotationRecord: tags notes
        AuthorRecord: actor app reason correlation
        BackupRecord: dry_run backup position commit bytes verified
        BisectRecord: before after steps
        BlameCellRecord: table id column value
        BlameRowRecord: table id op
        ChangeRecord: op table id old new
        CheckRecord: check status message remedy
        ColumnRecord: name type key required default converted_from
        CommitRecord: commit from to time clock attributes changes
        ComparisonRecord.Divergence: position commit before_range
        ComparisonRecord: equal from to events differing_rows divergence only_old only_new rows
        ConflictRecord: table id column reason expected found
        CountsRecord: insert update delete
        DeadLetterRecord: projection row operation error position attempts time
        DiffCountRecord: table cells schema
        DiffRecord: table id op
        EventRecord: position commit time
        ExecRecord: dry_run commit inserted updated deleted plan
        ExplainRecord.Step: id parent detail
        ExplainRecord: history events steps
        FoldedChangeRecord: projection position
        GrepCommitRecord.Field: field
        GrepCommitRecord: matches
        GrepMatchRecord: column change
        GrepValueRecord: matches
        GuardRecord: guard tables unguarded dry_run
        HistoryRecord: tx at actor app reason correlation op table id row
        ImportOutcome: complete commits inserts updates deletes skipped_lines resumed_after
        LeftoversRecord: unfinished kept projections
        LogRecord: events
        NewTokenRecord: token
        NoteRecord: note set
        OriginRecord: position commit time ignored
        OutboxOutcome.Outbox: key path writes
        OutboxOutcome.Write: position document
        OutboxOutcome: outboxes
        OutboxRecord: key path table active lost_writes pending parked failures next writes
        OutboxReportRecord: dry_run action
        OutboxWriteRecord: position document op state why commit time
        PositionedChangeRecord: position
        ProjectionOutcome: was position
        ProjectionPlanRecord: dry_run name action state
        ProjectionRecord: name kind state version position head lag events microseconds bytes dead_letters \
        events_per_second microseconds_per_event error failed
        RebuildOutcome: rows compared kept
        RebuildPlanRecord.Table: table rows resumed
        RebuildPlanRecord: dry_run position tables
        RebuildRecord.Difference: table id kind column found expected
        RebuildRecord: ok compared swapped position resumed rows kept differing_rows differences recorded
        RepairOutcome: complete fixed
        RepairRecord: fixed would_fix
        ReplayStopRecord: stop condition event error position commit
        RestoreOutcome: to position
        RestoreRecord.Table: table rows
        RestoreRecord: dry_run store position commit left_commits left_events inside_commit tables projections \
        recorded log_loss
        RevertRecord: dry_run reverts commit inserted updated deleted conflicts dropped plan
        SchemaChangeRecord: change table columns from column old new
        SchemaLogRecord: commit time
        ServedAnswerRecord: position commit time points document rows truncated cursor next notes command
        SettingRecord: commit time
        ShownCommitRecord: idempotency_key stored events
        ShownEventRecord: previous stored
        SourceRecord: source parameter policy fetched asked next failures refused error
        StatsRecord.Table: rows events dropped
        StatsRecord: events commits segments tail_rows log_bytes raw_bytes file_bytes wal_bytes schema_events \
        tag_events operation_events entities
        StoredRowsRecord: rows sealed from to bytes raw_bytes
        TableRecord.FullText: columns tokenizer prefixes
        TableRecord: table stored columns full_text projections
        TagChangeRecord: dry_run commit tag change position from
        TagRecord: tag note set
        TaggedPointRecord: position commit time
        TokenRecord.Grant: entity condition read write
        TokenRecord.Tenant: column value
        TokenRecord: id name grants tenant admin created expires revoked
        UndoneEventRecord: undone
        VerifyRecord.Finding: kind position table message
        VerifyRecord: ok requested verified not_verified events commits rows findings warnings truncated
        WatchRecord: position change count at from row
        WatchedCellRecord: watch position commit old new
        """
}
