import StorageKit
import StorageSync

/// Shows outboxes with their writes.
struct OutboxOutput {
    private let output: ResultOutput
    /// The maximum number of writes of an outbox to show to people.
    private let limit: Int
    private let index: LogIndex

    init(_ format: FormatOptions, limit: Int, index: LogIndex) {
        output = ResultOutput(format)
        self.limit = limit
        self.index = index
    }

    /// - Parameter isMeant: Which writes are shown.
    func write(_ outboxes: [OutboxStatus], where isMeant: (OutboxStatus.Write) -> Bool) throws {
        if output.format == .human {
            if outboxes.isEmpty { try output.line("No sync engine has used this store.", .dim) }
            for (number, outbox) in outboxes.enumerated() {
                if number > 0 { try output.line() }
                try writeText(outbox, outbox.writes.filter(isMeant))
            }
        } else {
            for outbox in outboxes {
                let writes = try outbox.writes.filter(isMeant).map {
                    OutboxWriteRecord(write: $0, commit: try index.commit(at: $0.position)?.info)
                }
                try output.record(OutboxRecord(outbox: outbox, writes: writes))
            }
            try output.finish()
        }
        try output.flush()
    }

    // MARK: For people

    private func writeText(_ outbox: OutboxStatus, _ writes: [OutboxStatus.Write]) throws {
        var line = StyledLine(outbox.manager, .heading)
        line.addWord(outbox.path)
        line.addWord("table \(outbox.entity)", .dim)
        if !outbox.isActive { line.addWord("another path is in use", .dim) }
        try output.line(line)
        try output.line(Self.counts(outbox))
        if outbox.hasLostWrites {
            try output.line("! The remote has lost writes that the store doesn't keep any more.", .removed)
        }
        guard !writes.isEmpty else { return }
        var table = TableLayout(
            [
                .init("write"), .init("document"), .init("operation"), .init("state"), .init("made"), .init("by"),
                .init("reason"),
            ], width: output.width)
        for write in writes.prefix(limit) {
            let commit = try index.commit(at: write.position)?.info
            table.add([
                TableCell("@\(write.position)"), TableCell(write.documentId, .heading),
                TableCell(write.kind.name), TableCell(write.state.name, write.isParked ? .removed : .plain),
                TableCell(commit.map { Timestamp.shown($0.time) } ?? "", .dim),
                TableCell(commit.map { CommitText.author($0.metadata) } ?? "", .dim),
                TableCell(write.reason ?? ""),
            ])
        }
        try output.lines(table.lines(style: output.style))
        if writes.count > limit { try output.line("… and \(NumberText.grouped(writes.count - limit)) more", .dim) }
    }

    private static func counts(_ outbox: OutboxStatus) -> StyledLine {
        var line = StyledLine("\(NumberText.grouped(outbox.writes.count)) pending")
        if outbox.parkedCount > 0 { line.addWord("\(NumberText.grouped(outbox.parkedCount)) parked", .removed) }
        if let time = outbox.retryTime {
            line.addWord("failed \(NumberText.count(outbox.failures, "time"))", .changed)
            line.addWord("next try \(time <= SystemTime.now ? "as soon as it is used" : "at \(Timestamp.shown(time))")")
        }
        return line
    }
}

extension OutboxStatus.Write {
    /// Why it is parked.
    var reason: String? { if case .parked(let reason) = state { reason } else { nil } }
}

extension OutboxStatus.Write.State {
    var name: String {
        switch self {
        case .waiting: "waiting"
        case .sent: "sent"
        case .parked: "parked"
        case .discarded: "discarded"
        }
    }
}

extension PendingWrite.Kind {
    /// The operation's name in lines for programs.
    var name: String {
        switch self {
        case .save: "insert"
        case .patch: "update"
        case .delete: "delete"
        }
    }
}
