/// One way through the frames of a write-ahead log, as SQLite goes when it recovers, and on behind the frame at which it stops.
///
/// Not `Sendable`: it belongs to whoever goes.
struct WriteAheadLogWalk {
    private typealias Frame = WriteAheadLogFile.Frame

    private let file: WriteAheadLogFile
    private let header: WriteAheadLogFile.Header
    /// The next frame that SQLite would look at, and the checksum that it must go on from.
    private var number = 1
    private var checksum: WriteAheadLogFile.Checksum

    init(_ file: WriteAheadLogFile, _ header: WriteAheadLogFile.Header) {
        self.file = file
        self.header = header
        checksum = header.checksum
    }

    /// What lies behind a header that is wrong, so that SQLite doesn't look at any frame.
    func damageBehindHeader() throws -> WriteAheadLog.Damage? {
        let rest = try behind(1)
        return rest.followed > 0 ? .init(frame: 0, transactions: rest.transactions) : nil
    }

    /// What lies behind the end that SQLite finds.
    mutating func damage() throws -> WriteAheadLog.Damage? {
        while true {
            try advance()
            let rest = try behind(number)
            // GRDB writes the first transaction of a log that was empty while it opens the file, without a sync: the second one may
            // come to the disk without it.
            guard rest.followed > 1 else { return nil }
            // A writer may just have been writing it when it was read. By now it isn't.
            guard let frame = try file.frame(number, of: header),
                try file.isChained(frame, number: number, to: checksum, header: header)
            else { return .init(frame: number, transactions: rest.transactions) }
        }
    }

    /// Goes as far as SQLite would.
    private mutating func advance() throws {
        while let frame = try file.frame(number, of: header),
            try file.isChained(frame, number: number, to: checksum, header: header)
        {
            checksum = frame.checksum
            number += 1
        }
    }

    /// The transactions behind a frame: how many end there, and how many of them another one goes on from.
    ///
    /// Of a frame nothing is believed but what the checksum of its predecessor vouches for: a frame that is torn may hold the
    /// end of one and the beginning of another.
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

    /// SQLite writes the last frame of a transaction again, up to the end of a sector, where a disk is said to harm bytes beside
    /// those that it writes.
    private static func isRepetition(_ frame: Frame, of before: Frame) -> Bool {
        frame.endsTransaction && before.page == frame.page && before.databasePages == frame.databasePages
    }
}
