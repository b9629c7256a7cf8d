import StorageCore

@testable import StorageSync

/// A hub, its backup, and the pulls that it holds until there is something to answer.
struct SimulatedHub {
    typealias Reply = (Result<SyncAnswer, SyncFailure>) -> Void

    private(set) var hub = MemoryHub(line: [0]) { _, columns in
        columns["a"] == .integer(13) ? "a is 13" : nil
    }
    /// Backups, also of branches that were given up since.
    private var copies: [MemoryHub] = []
    private var held: [Int: (producer: ProducerID, line: [UInt8], position: Int64, reply: Reply)] = [:]
    private var heldCount = 0
    /// Connections end with it, and with them what was held.
    var isUp = true { didSet { if !isUp { held = [:] } } }

    mutating func backup() { copies.append(hub) }

    mutating func restore(keepingLine: Bool, random: UInt64) -> Bool {
        guard !copies.isEmpty else { return false }
        hub = copies[Int(random % UInt64(copies.count))]
        if !keepingLine { hub.beginLine(withUnsafeBytes(of: random) { Array($0) }) }
        held = [:]
        return true
    }

    /// - Returns: Names a pull that is held, for ``release(_:)``.
    mutating func take(
        _ kind: SyncRequest.Kind, _ writes: [HubWrite], from producer: ProducerID, fences: Bool, reply: @escaping Reply
    ) -> Int? {
        switch kind {
        case .hello(let epoch): reply(hub.hello(from: producer, epoch: epoch).map { .welcome($0) })
        case .push(let epoch, let line, let firstNumber, _):
            let known = hub.producers[producer]
            let answer = hub.push(
                HubBatch(
                    producer: producer, epoch: fences ? epoch : known?.epoch ?? epoch, line: fences ? line : hub.line,
                    firstNumber: fences ? firstNumber : (known?.lastNumber ?? 0) + 1, writes: writes))
            reply(answer.map { .pushed($0) })
            if case .success = answer { for number in held.keys.sorted() { release(number) } }
        case .pull(let line, let position):
            guard line == hub.line, position == hub.head else {
                reply(hub.pull(for: producer, line: line, after: position, limit: 7).map { .page($0) })
                return nil
            }
            heldCount += 1
            held[heldCount] = (producer, line, position, reply)
            return heldCount
        }
        return nil
    }

    mutating func release(_ number: Int) {
        guard let pull = held.removeValue(forKey: number) else { return }
        pull.reply(hub.pull(for: pull.producer, line: pull.line, after: pull.position, limit: 7).map { .page($0) })
    }
}
