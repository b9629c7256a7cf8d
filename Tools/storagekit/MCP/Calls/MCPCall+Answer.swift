import Foundation
import StorageCore
import StorageSync

extension MCPCall {
    /// Returns the answer for the output of the process.
    ///
    /// - Parameter status: Its exit status; nil if it was killed.
    func answer(_ reading: MCPReading, status: Int32?) throws -> Outcome {
        var reading = reading
        guard question.isContinued(in: reading.reports) else {
            throw CommandError(
                .conflict, "The store has changed since the first part of this answer.",
                why: "Its rows may be others now.",
                next: "Ask again without a cursor, of a state that stays: name points as @NUMBER.")
        }
        if reading.isTimedOut, reading.rows.rows.isEmpty {
            throw CommandError(
                .inconclusive, "No answer after \(limits.seconds.formatted()) seconds.",
                why: "It was ended; nothing was changed.",
                next: "\(question.tool.narrower) The tool explain reports what a query reads.")
        }
        guard isAnswer(reading, status: status) || reading.isDocumentTooLong else {
            return .failure(
                reading.errors.isEmpty ? "error: The command ended unexpectedly.\n" : MCPText.escaped(reading.errors))
        }
        let (document, elements) = try parts(of: reading)
        reading.addRows(elements)
        var record = ServedAnswerRecord(
            position: reading.reports.position, commit: reading.reports.commit, time: reading.reports.time,
            points: reading.reports.points.map { (name: $0.name, position: $0.position) })
        record.document = document
        if question.tool.hasRows {
            record.rows = reading.rows.rows
            record.isTruncated = reading.rows.isCut
            if reading.rows.isCut { (record.cursor, record.next) = continuation(reading) }
        }
        let notes = reading.errors.trimmingCharacters(in: .whitespacesAndNewlines)
        if !notes.isEmpty { record.notes = MCPText.escaped(notes) }
        record.command = status == 0 ? command(for: document) : nil
        var json = JSONWriter()
        json.beginObject()
        Contract.writeVersion(to: &json)
        record.write(to: &json)
        json.endObject()
        return .answer(String(decoding: json.bytes, as: UTF8.self))
    }

    /// Returns whether the output is an answer: whole, or truncated here. What a command wrote before it failed isn't one.
    private func isAnswer(_ reading: MCPReading, status: Int32?) -> Bool {
        if reading.rows.isCut { return true }
        guard let status = status.flatMap(ExitStatus.init(rawValue:)) else { return false }
        switch question.tool.answer {
        // Without rows, only these two mean that there are none.
        case .rows: return [.done, .negative].contains(status) || isVerdict(status) && !reading.rows.rows.isEmpty
        case .document: return reading.document != nil && ([.done, .negative].contains(status) || isVerdict(status))
        }
    }

    private func isVerdict(_ status: ExitStatus) -> Bool { question.tool.verdicts.contains(status) }

    /// Returns the document without its list, and the list's elements.
    private func parts(of reading: MCPReading) throws -> (document: String?, elements: [String]) {
        guard case .document(_, let list, _) = question.tool.answer else { return (nil, []) }
        guard let text = reading.document, !reading.isDocumentTooLong else { throw tooLong() }
        var reader = try JSONReader(text.utf8)
        var members: [(name: String, value: MCPValue)] = []
        var elements: [String] = []
        try reader.object { key, json in
            let value = try json.text()
            if key == list {
                elements = try MCPMessage.elements(of: value)
            } else if key != "v" {
                members.append((key, .json(MCPText.escaped(value))))
            }
        }
        let document = MCPValue.object(members).text
        guard document.utf8.count <= limits.bytes else { throw tooLong() }
        return (document, elements)
    }

    private func tooLong() -> CommandError {
        CommandError(
            .usage, "The answer is longer than \(limits.bytes) bytes.", next: question.tool.narrower)
    }

    /// Returns the cursor and the advice for the rest of the answer.
    private func continuation(_ reading: MCPReading) -> (cursor: String, next: String) {
        // A row that is too long to be sent is skipped.
        let passed = reading.rows.rows.count + (reading.rows.tooLongRow == nil ? 0 : 1)
        let cursor = cursors.add(question.rest(after: passed, readFrom: reading.reports))
        if let length = reading.rows.tooLongRow {
            return (
                cursor,
                "The next row has \(length) bytes or more, and \(limits.bytes) fit into an answer. \(question.tool.narrower) The cursor continues after that row."
            )
        }
        let why = reading.isTimedOut ? "The time was up. " : ""
        return (cursor, "\(why)Pass the cursor for the rows that follow. Or: \(question.tool.narrower)")
    }

    /// Returns the command that a person runs to apply the plan; nil if there is nothing to do.
    private func command(for document: String?) -> String? {
        guard let flag = question.words.firstIndex(of: "--dry-run"), let document,
            let members = try? MCPMessage.members(of: document),
            ["inserted", "updated", "deleted"].contains(where: { members[$0] != "0" })
        else { return nil }
        var words = question.words.filter { $0 != "--" }
        words.remove(at: flag)
        return ShellWords.line(["storagekit"] + words + ["-s", store])
    }
}
