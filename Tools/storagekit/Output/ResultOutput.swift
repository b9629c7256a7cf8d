import StorageCore

/// Writes a command's results in the requested format.
///
/// Not `Sendable`: it is used where it is created.
final class ResultOutput {
    let format: OutputFormat
    let style: Style
    /// The width at which lines for people are truncated; nil in files and pipes.
    let width: Int?
    /// Whether the output is all that the command is for. Otherwise it is discarded without a reader, so that the command ends with its status.
    var needsReader: Bool {
        get { output.needsReader }
        set { output.needsReader = newValue }
    }
    private let output = StandardOutput()
    private var json = JSONWriter()
    private var records = 0
    private var lastFlush: ContinuousClock.Instant?

    convenience init(_ options: FormatOptions, isTruncated: Bool = true) {
        self.init(options.format, style: options.style, isTruncated: isTruncated)
    }

    /// - Parameter isTruncated: Whether lines for people are truncated at a terminal's width.
    init(_ format: OutputFormat, style: Style, isTruncated: Bool = true) {
        self.format = format
        self.style = style
        width = isTruncated ? Terminal(descriptor: 1).width : nil
    }

    func line(_ line: StyledLine) throws { try output.writeLine(line.rendered(style, width: width)) }
    func line(_ text: String = "", _ role: Style.Role = .plain) throws { try line(StyledLine(text, role)) }

    /// Writes a row as lines that aren't truncated.
    func row(_ row: VerticalRow) throws {
        for line in row.lines() { try output.writeLine(line.rendered(style, width: nil)) }
    }

    /// Writes lines that are already laid out.
    func lines(_ lines: [String]) throws {
        for line in lines { try output.writeLine(line) }
    }

    func text(_ text: String) throws { try output.write(text) }

    /// Writes one object: a line of JSON Lines, or an element of the array that a JSON document is.
    func record(_ record: some JSONRecord) throws { try object(record, hasVersion: true) }

    /// Writes one object that contains only what the user selected.
    func object(_ record: some JSONRecord) throws { try object(record, hasVersion: false) }

    private func object(_ record: some JSONRecord, hasVersion: Bool) throws {
        if format == .json { try output.write(records == 0 ? "[\n" : ",\n") }
        records += 1
        try write(record, hasVersion: hasVersion)
        if format == .json {
            try output.write(json.bytes)
            // A new writer, because this one would write a comma before the next object.
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

    /// Flushes if the last flush was some time ago, so that rare results are seen at once and frequent ones are written in large pieces. Call it
    /// after each result.
    func flushIfDue() throws {
        let now = ContinuousClock.now
        if let lastFlush, now - lastFlush < .milliseconds(30) { return }
        lastFlush = now
        try output.flush()
    }

    /// Flushes all results.
    func flush() throws { try output.flush() }

    /// Ends a document of records, which may be empty.
    func finish() throws {
        if format == .json { try output.write(records == 0 ? "[]\n" : "\n]\n") }
        try output.flush()
    }
}
