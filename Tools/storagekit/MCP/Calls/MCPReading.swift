import Foundation

/// Reads the output of a command's process, until it ends or the limits are reached.
struct MCPReading {
    private(set) var rows: MCPRows
    /// The object, for a command that answers with one; nil if there is none, or if it is too long.
    private(set) var document: String?
    private(set) var isDocumentTooLong = false
    private(set) var reports = MCPReports()
    /// The beginning of what was written to standard error.
    private(set) var errors = ""
    private(set) var isTimedOut = false

    private let hasDocument: Bool
    private let seconds: Double
    private var outputLines: LineSplitter
    private var reportLines = LineSplitter(limit: 4 << 10)
    private var errorBytes: [UInt8] = []

    init(_ question: MCPQuestion, limits: MCPLimits) {
        rows = MCPRows(of: question, bytes: limits.bytes)
        seconds = limits.seconds
        if case .document = question.tool.answer { hasDocument = true } else { hasDocument = false }
        outputLines = LineSplitter(limit: hasDocument ? MCPLimits.documentBytes : limits.bytes)
    }

    mutating func read(_ child: ChildProcess, progress: (_ seconds: Int) -> Void) {
        let start = ContinuousClock.now
        // Reports first: they were written before the rows that may end the reading.
        var open = [child.reports, child.errors, child.output]
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var reported = 0
        defer { errors = String(decoding: errorBytes, as: UTF8.self) }
        while !open.isEmpty {
            let passed = (ContinuousClock.now - start) / .seconds(1)
            guard passed < seconds else {
                isTimedOut = true
                rows.cut()
                return
            }
            if Int(passed) > reported {
                reported = Int(passed)
                progress(reported)
            }
            var polls = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let wait = min(seconds - passed, Double(reported + 1) - passed)
            guard poll(&polls, nfds_t(polls.count), Int32(wait * 1000) + 1) > 0 else { continue }
            for ready in polls where ready.revents != 0 {
                let count = Foundation.read(ready.fd, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    open.removeAll { $0 == ready.fd }
                    continue
                }
                if !take(buffer[..<count], from: ready.fd, of: child) { return }
            }
        }
        if let line = outputLines.rest() { _ = add(line) }
    }

    /// - Returns: Whether to continue reading.
    private mutating func take(_ bytes: ArraySlice<UInt8>, from descriptor: Int32, of child: ChildProcess) -> Bool {
        switch descriptor {
        case child.errors: errorBytes += bytes.prefix(max(MCPLimits.noteBytes - errorBytes.count, 0))
        case child.reports:
            var lines: [String] = []
            reportLines.feed(bytes) {
                if case .text(let line) = $0 { lines.append(String(decoding: line, as: UTF8.self)) }
            }
            for line in lines { reports.add(line) }
        default:
            var lines: [LineSplitter.Line] = []
            outputLines.feed(bytes) { lines.append($0) }
            for line in lines where !add(line) { return false }
        }
        return true
    }

    /// - Returns: Whether to continue reading.
    private mutating func add(_ line: LineSplitter.Line) -> Bool {
        guard hasDocument else { return rows.add(line) }
        switch line {
        case .text(let text): document = String(decoding: text, as: UTF8.self)
        case .tooLong: isDocumentTooLong = true
        }
        return !isDocumentTooLong
    }

    /// Adds the elements of the document's list as rows.
    mutating func addRows(_ elements: [String]) {
        for element in elements {
            let bytes = Array(element.utf8)
            guard rows.add(.text(bytes)) else { return }
        }
    }
}
