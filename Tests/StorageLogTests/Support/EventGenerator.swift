import CSQLite
import SchemaTestSupport
import StorageCore
import TestSupport

@testable import StorageLog

/// Makes up histories of rows that hang together, without a database.
struct EventGenerator {
    var random: SplitMix64
    private var rows: [LogOracle.RowAddress: [UInt32: Cell]] = [:]
    private var last: [LogOracle.RowAddress: Int64] = [:]

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// A run of events from position `first` on, in commits of random sizes.
    mutating func events(_ count: Int, first: Int64) -> [LoggedEvent] {
        var events: [LoggedEvent] = []
        var commit = commitInfo(number: Int64(random.below(1_000) + 1), time: time(), metadata: metadata())
        for index in 0..<count {
            if index > 0, random.chance(30) {
                commit = commitInfo(
                    number: commit.number + 1, time: random.chance(20) ? max(time(), commit.time) : commit.time,
                    metadata: random.chance(50) ? commit.metadata : metadata())
            }
            events.append(event(first + Int64(index), first: first, commit))
        }
        return events
    }

    private mutating func commitInfo(number: Int64, time: Int64, metadata: CommitMetadata) -> CommitInfo {
        CommitInfo(
            number: number, time: time,
            clock: random.chance(15) && time > -1 << 61 ? time - Int64(random.below(1 << 40)) - 1 : nil,
            metadata: metadata,
            extensions: random.chance(10) ? random.pick([[4, 0], [4, 2, 7, 7, 200, 1, 1, 9]]) : [])
    }

    private mutating func event(_ position: Int64, first: Int64, _ commit: CommitInfo) -> LoggedEvent {
        let entity = UInt32(random.pick([1, 40, 1 << 20]))
        let columns = (0..<UInt32(3 + entity % 5)).map { entity + 1 + $0 }
        let key: [Cell] = (0...Int(entity % 2)).map { _ in random.chance(80) ? .integer(Int64(random.below(6))) : cell()
        }
        let address = LogOracle.RowAddress(entity: entity, key: key)
        // The row's last event may lie before the run; what it held then isn't known to the run.
        let earlier = first > 1 && random.chance(30) ? Int64.random(in: 1..<first, using: &random) : 0
        var event = LoggedEvent(
            position: position, commit: commit, entity: entity, operation: STORAGE_INSERT, key: key, columns: columns,
            previous: last[address] ?? earlier)
        if let row = rows[address] {
            event.operation = random.chance(75) ? STORAGE_UPDATE : STORAGE_DELETE
            if event.operation == STORAGE_UPDATE { event.columns = columns.filter { _ in random.chance(40) } }
            if event.columns.isEmpty { event.columns = [columns[0]] }
            for column in event.columns { event.old[column] = row[column] ?? .null }
        } else if random.chance(15) {
            // An update or delete of a row that only earlier runs know.
            event.operation = random.chance(50) ? STORAGE_UPDATE : STORAGE_DELETE
            for column in columns { event.old[column] = cell() }
        }
        if event.operation != STORAGE_DELETE {
            for column in event.columns { event.new[column] = event.old[column].map { change($0) } ?? cell() }
        }
        var row = event.operation == STORAGE_INSERT ? [:] : rows[address] ?? event.old
        row.merge(event.new) { $1 }
        rows[address] = event.operation == STORAGE_DELETE ? nil : row
        last[address] = position
        return event
    }

    mutating func cell() -> Cell {
        switch random.below(10) {
        case 0: .null
        case 1: .integer(Int64(random.below(5)))
        case 2: .integer(random.pick([.min, .max, .min + 1, -1, 1 << 60, -(1 << 60), 1 << 59]))
        case 3: .integer(Int64(bitPattern: random.next() >> UInt64(random.below(64))))
        case 4:
            .real(
                random.pick([
                    0.0, -0.0, 1, -7, 0.1, .infinity, -.infinity, 0x1p53, 0x1p53 - 1, -0x1p53,
                    Double.leastNonzeroMagnitude, 1e300,
                ]).bitPattern)
        case 5: .real(Double(random.below(1_000)).bitPattern)
        case 6: .blob(content())
        default: .text(content())
        }
    }

    /// Often an edit in the middle, at an end, or a repetition, as updates of texts are.
    private mutating func change(_ cell: Cell) -> Cell {
        func edited(_ old: [UInt8]) -> [UInt8] {
            var bytes = old
            let place = random.below(bytes.count + 1)
            let removed = min(random.below(4), bytes.count - place)
            bytes.replaceSubrange(
                place..<place + removed, with: (0..<random.below(4)).map { _ in UInt8(random.below(256)) })
            return random.chance(10) ? bytes + bytes : bytes
        }
        guard random.chance(70) else { return self.cell() }
        switch cell {
        case .text(let bytes): return random.chance(90) ? .text(edited(bytes)) : .blob(bytes)
        case .blob(let bytes): return .blob(edited(bytes))
        case .integer(let value): return .integer(value &+ Int64(random.below(3)) &- 1)
        default: return self.cell()
        }
    }

    private mutating func content() -> [UInt8] {
        let size = random.pick([0, 1, 7, 8, 9, 16, 40, 300])
        return (0..<size).map { _ in UInt8(random.chance(70) ? 0x61 + random.below(3) : random.below(256)) }
    }

    private mutating func time() -> Int64 {
        let times = [0, 1_700_000_000_000_000, -1, Limits.times.lowerBound, Limits.times.upperBound - 1_000]
        return random.pick(times) + Int64(random.below(1_000))
    }

    private mutating func metadata() -> CommitMetadata {
        func field() -> String? { random.chance(50) ? nil : random.pick(["", "anna", "a longer reason with é", "ü"]) }
        var metadata = CommitMetadata(
            actor: field(), app: field(), reason: field(), correlation: field(), idempotencyKey: field())
        for _ in 0..<random.below(3) { metadata.attributes["name \(random.below(4))"] = field() }
        return metadata
    }
}
