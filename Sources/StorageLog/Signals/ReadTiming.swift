/// How long one read took, and where the time went.
///
/// ```swift
/// let observation = storage.observeReads(longerThan: .milliseconds(100)) { read in
///     if read.reason == .fullScan { print(read.scannedRows, "rows scanned:", read.statement ?? "") }
/// }
/// ```
public struct ReadTiming: Sendable {
    /// What a read spent most of its time on.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Other reads held all connections.
        case connection
        /// A statement scanned a table row by row, as no index fits its condition.
        case fullScan = "full-scan"
        /// A statement sorted its result, as no index has its order.
        case sort
        /// SQLite created an index for this one statement.
        case automaticIndex = "automatic-index"
        /// None of these: there were many rows to read, or the body took long.
        case body
    }

    /// The time from the call of the read to its return.
    public let duration: Duration
    /// The time that the read waited for a connection.
    public let connection: Duration
    /// The statement that took the most of SQLite's steps, with its parameters as `?`; nil if unknown, as for statements that the
    /// read has discarded.
    public let statement: String?
    /// What it spent most of its time on.
    public let reason: Reason
    /// The number of rows that ``statement`` scanned one by one.
    public let scannedRows: Int
}

extension ReadTiming: CustomStringConvertible {
    /// How long the read took, what most of the time was spent on, and its slowest statement:
    /// `0.12 seconds, mostly full-scan, 1000 rows scanned: SELECT …`.
    public var description: String {
        "\(duration), mostly \(reason.rawValue)" + (scannedRows > 0 ? ", \(scannedRows) rows scanned" : "")
            + (statement.map { ": \($0)" } ?? "")
    }
}
