/// The segments that hold any of a range of positions, one after another.
///
/// From the third one on, another thread decodes some segments ahead; it continues while the caller does something else between two of them.
///
/// Isolation: not `Sendable`, it belongs to its reader's thread.
package final class BatchIterator {
    private let reader: LogReader
    private let positions: ClosedRange<Int64>
    private let select: PreparedStatement
    private var ahead: ReadAheadDecoder?
    private var count = 0
    /// Whether `select` has no more rows: another step would start it again.
    private var isAtEnd = false

    /// Most reads end within this number of segments; longer ones are worth a second thread.
    private static let fewRows = 2

    package init(_ positions: ClosedRange<Int64>, descending: Bool = false, of reader: LogReader) throws {
        self.reader = reader
        self.positions = positions
        select = try PreparedStatement(reader.database, LogReader.selectRows(descending: descending))
        select.bind(positions.lowerBound, at: 1)
        select.bind(positions.upperBound, at: 2)
    }

    /// Returns the next segment, or nil after the last.
    ///
    /// - Parameter wanted: Whether to decode a segment, judged by its columns. Those that are decoded ahead have been judged by an earlier
    ///   call.
    package func next(where wanted: (SegmentHeader) -> Bool = { _ in true }) throws -> EventBatch? {
        while !isAtEnd {
            guard try select.step() else {
                isAtEnd = true
                break
            }
            let header = try LogReader.header(of: select)
            guard header.last >= positions.lowerBound else { continue }
            guard wanted(header) else {
                try reader.checkSkipped(select, header)
                continue
            }
            count += 1
            guard count > Self.fewRows else { return try reader.decode(select, header) }
            try reader.checkFormat(select, header)
            let decoder = ahead ?? ReadAheadDecoder()
            ahead = decoder
            let base = Result { try reader.base(of: select) }
            if let batch = try decoder.exchange(header, body: select.bytes(10), base: base) { return batch }
        }
        return try ahead?.next()
    }
}
