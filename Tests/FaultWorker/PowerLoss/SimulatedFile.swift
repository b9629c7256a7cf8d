import SchemaTestSupport
import TestSupport

/// A file on a disk with a cache: what has come to the disk, and what was asked for since.
///
/// Not `Sendable`: it belongs to its ``SimulatedDisk``.
final class SimulatedFile {
    enum Change {
        case write(offset: Int, bytes: ArraySlice<UInt8>)
        case truncate(size: Int)
    }

    private static let sector = 512

    private var durable: [UInt8] = []
    private(set) var pending: [Change] = []

    func change(_ change: Change) { pending.append(change) }

    /// Brings everything to the disk.
    func sync() {
        for change in pending { Self.apply(change, to: &durable) }
        pending.removeAll()
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .write(let offset, let new):
            grow(&bytes, to: offset + new.count)
            bytes.replaceSubrange(offset..<(offset + new.count), with: new)
        case .truncate(let size):
            grow(&bytes, to: size)
            bytes.removeLast(bytes.count - size)
        }
    }

    private static func grow(_ bytes: inout [UInt8], to size: Int) {
        if bytes.count < size { bytes.append(contentsOf: repeatElement(0, count: size - bytes.count)) }
    }

    /// What the file holds when the power comes back.
    func content(after loss: PowerLoss, _ random: inout SplitMix64) -> [UInt8] {
        var bytes = durable
        let lost = pending.isEmpty ? 0 : Int.random(in: 0..<pending.count, using: &random)
        switch loss {
        case .everything: break
        case .nothing: for change in pending { Self.apply(change, to: &bytes) }
        case .someCalls:
            for change in pending where Bool.random(using: &random) { Self.apply(change, to: &bytes) }
        case .oneCall:
            for (index, change) in pending.enumerated() where index != lost { Self.apply(change, to: &bytes) }
        case .someSectors: bytes = sectors(isGarbage: false, &random)
        case .garbage: bytes = sectors(isGarbage: true, &random)
        case .endOfLastWrite:
            for change in pending.dropLast() { Self.apply(change, to: &bytes) }
            guard case .write(let offset, let new)? = pending.last else { break }
            let kept = Int.random(in: 0...new.count, using: &random) / Self.sector * Self.sector
            Self.apply(.write(offset: offset, bytes: new.prefix(kept)), to: &bytes)
        }
        return bytes
    }

    /// Each sector as it was after one of the calls, and the size likewise: the cache writes whole sectors, each as it is then.
    private func sectors(isGarbage: Bool, _ random: inout SplitMix64) -> [UInt8] {
        var bytes = durable
        var size = durable.count
        let sizeCalls = Int.random(in: 0...pending.count, using: &random)
        var calls: [Int: Int] = [:]
        var lost: Set<Int> = []
        for (index, change) in pending.enumerated() {
            switch change {
            case .truncate(let cut):
                // A file system gives up what was cut as a whole, together with the size.
                guard index < sizeCalls else { continue }
                size = cut
                for place in min(cut, bytes.count)..<bytes.count { bytes[place] = 0 }
            case .write(let offset, let new):
                let end = offset + new.count
                if index < sizeCalls { size = max(size, end) }
                Self.grow(&bytes, to: end)
                guard offset < end else { continue }
                for sector in (offset / Self.sector)...((end - 1) / Self.sector) {
                    let through = calls[sector] ?? Int.random(in: 0...pending.count, using: &random)
                    calls[sector] = through
                    guard index < through else {
                        lost.insert(sector)
                        continue
                    }
                    let from = max(offset, sector * Self.sector)
                    let to = min(end, (sector + 1) * Self.sector)
                    let first = new.startIndex - offset
                    bytes.replaceSubrange(from..<to, with: new[(first + from)..<(first + to)])
                }
            }
        }
        Self.grow(&bytes, to: size)
        bytes.removeLast(bytes.count - size)
        guard isGarbage else { return bytes }
        for sector in lost.sorted() where sector * Self.sector >= durable.count {
            let place = sector * Self.sector
            for byte in place..<max(place, min(place + Self.sector, size)) {
                bytes[byte] = UInt8.random(in: 0...255, using: &random)
            }
        }
        return bytes
    }
}
