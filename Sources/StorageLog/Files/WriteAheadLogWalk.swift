/// One pass over the frames of a write-ahead log, as SQLite makes it in recovery, which continues after the frame at which SQLite
/// stops.
///
/// Not `Sendable`: it belongs to its creator.
struct WriteAheadLogWalk {
    private typealias Frame = WriteAheadLogFile.Frame

    private let file: WriteAheadLogFile
    private let header: WriteAheadLogFile.Header
    /// The next frame that SQLite would read, and the checksum that it must continue from.
    private var number = 1
    private var checksum: WriteAheadLogFile.Checksum

    init(_ file: WriteAheadLogFile, _ header: WriteAheadLogFile.Header) {
        self.file = file
        self.header = header
        checksum = header.checksum
    }

    /// The damage after a wrong header, because of which SQLite reads no frame.
    func damageBehindHeader() throws -> WriteAheadLog.Damage? {
        let rest = try behind(1)
        return rest.followed > 0 ? .init(frame: 0, transactions: rest.transactions) : nil
    }

    /// The damage after the end that SQLite finds.
    mutating func damage() throws -> WriteAheadLog.Damage? {
        while true {
            try advance()
            let rest = try behind(number)
            // While GRDB opens the file, it writes the first transaction of an empty log without a sync: the second transaction
            // may reach the disk without it.
            guard rest.followed > 1 else { return nil }
            // The frame may have been read while a writer wrote it, which is complete by now.
            guard let frame = try file.frame(number, of: header),
                try file.isChained(frame, number: number, to: checksum, header: header)
            else { return .init(frame: number, transactions: rest.transactions) }
        }
    }

    /// Advances to the frame at which SQLite would stop.
    private mutating func advance() throws {
        while let frame = try file.frame(number, of: header),
            try file.isChained(frame, number: number, to: checksum, header: header)
        {
            checksum = frame.checksum
            number += 1
        }
    }

    /// Counts the transactions after a frame: how many end there, and how many of them another one continues from.
    ///
    /// A frame counts only as far as the checksum of its predecessor confirms it: a torn frame may hold the end of one and the
    /// beginning of another.
    private func behind(_ wrong: Int) throws -> (transactions: Int, followed: Int) {
        var (transactions, followed) = (0, 0)
        guard var before = try file.frame(wrong, of: header) else { return (0, 0) }
        var isBeforeChained = false
        var number = wrong + 1
        while let frame = try file.frame(number, of: header) {
            let isChained = try file.isChained(frame, number: number, to: before.checksum, header: header)
            let isRepeated = isBeforeChained && Self.isRepetition(frame, of: before)
            if isChained, !isRepeated {
                if isBeforeChained, before.endsTransaction { followed += 1 }
                if frame.endsTransaction { transactions += 1 }
            }
            (before, isBeforeChained, number) = (frame, isChained, number + 1)
        }
        return (transactions, followed)
    }

    /// Whether a frame repeats the one before: SQLite writes the last frame of a transaction again, up to the end of a sector,
    /// if the disk may damage bytes next to those that it writes.
    private static func isRepetition(_ frame: Frame, of before: Frame) -> Bool {
        frame.endsTransaction && before.page == frame.page && before.databasePages == frame.databasePages
    }
}
