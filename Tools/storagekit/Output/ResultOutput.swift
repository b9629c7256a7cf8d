import StorageCore

/// Where a command writes its results, in the format that was asked for.
///
/// Not `Sendable`: it is made where it is used.
final class ResultOutput {
    let format: OutputFormat
    let style: Style
    /// Where lines for people are cut; nil in files and pipes.
    let width: Int?
    private let output = StandardOutput()
    private var json = JSONWriter()
    private var records = 0
    private var lastFlush: ContinuousClock.Instant?

    convenience init(_ options: FormatOptions, isTruncated: Bool = true) {
        self.init(options.format, style: options.style, isTruncated: isTruncated)
    }

    /// - Parameter isTruncated: Whether lines for people end at the edge of a terminal.
    init(_ format: OutputFormat, style: Style, isTruncated: Bool = true) {
        self.format = format
        self.style = style
        width = isTruncated ? Terminal(descriptor: 1).width : nil
    }

    func line(_ line: StyledLine) throws { try output.writeLine(line.rendered(style, width: width)) }
    func line(_ text: String = "", _ role: Style.Role = .plain) throws { try line(StyledLine(text, role)) }

    /// Writes a row as lines that aren't cut.
    func row(_ row: VerticalRow) throws {
        for line in row.lines() { try output.writeLine(line.rendered(style, width: nil)) }
    }

    /// Writes lines that were laid out already.
    func lines(_ lines: [String]) throws {
        for line in lines { try output.writeLine(line) }
    }

    func text(_ text: String) throws { try output.write(text) }

    /// Writes one object: a line of JSON Lines, or an element of the array that a JSON document is.
    func record(_ record: some JSONRecord) throws { try object(record, hasVersion: true) }

    /// Writes one object with nothing but what the user asked for in it.
    func object(_ record: some JSONRecord) throws { try object(record, hasVersion: false) }

    private func object(_ record: some JSONRecord, hasVersion: Bool) throws {
        if format == .json { try output.write(records == 0 ? "[\n" : ",\n") }
        records += 1
        try write(record, hasVersion: hasVersion)
        if format == .json {
            try output.write(json.bytes)
            // A new writer, because this one would set a comma before the next object.
            json = JSONWriter()
        } else {
            json.endLine()
            try output.write(&json)
        }
    }

    /// Writes the only object of a command's answer.
    func document(_ record: some JSONRecord) throws {
        try write(record, hasVersion: true)
        json.endLine()
        try output.write(&json)
    }

    private func write(_ record: some JSONRecord, hasVersion: Bool) throws {
        json.beginObject()
        if hasVersion { Contract.writeVersion(to: &json) }
        try record.write(to: &json)
        json.endObject()
    }

    /// Writes the names of the columns of a table in CSV or Markdown.
    func titles(_ titles: [String]) throws {
        try row(titles)
        if format == .md { try output.writeLine(MarkdownRow.rule(columns: titles.count)) }
    }

    /// Writes a row of a table in CSV or Markdown.
    ///
    /// - Parameter cells: nil for NULL.
    func row(_ cells: [String?]) throws {
        try output.writeLine(format == .md ? MarkdownRow.text(cells) : CSVRow.text(cells))
    }

    /// Passes results on if the last ones went some time ago, so that what is found rarely is seen at once and what
    /// is found often goes in large pieces. To be called after each result.
    func flushIfDue() throws {
        let now = ContinuousClock.now
        if let lastFlush, now - lastFlush < .milliseconds(30) { return }
        lastFlush = now
        try output.flush()
    }

    /// Passes everything on, so that it can be seen.
    func flush() throws { try output.flush() }

    /// Ends a document of records, of which there may be none.
    func finish() throws {
        if format == .json { try output.write(records == 0 ? "[]\n" : "\n]\n") }
        try output.flush()
    }
}
