import Foundation
import SchemaTestSupport
import TestSupport

/// What is on a disk after a series of calls, and what is left of it when the power goes there.
///
/// The rules are those that SQLite and StorageKit count on, and no more: a synced file is on the disk, a name is when its folder
/// was synced, renaming is done wholly or not at all, and half a sector is never written.
///
/// Not `Sendable`: one task works with it.
final class SimulatedDisk {
    private struct Handle {
        let file: SimulatedFile
        let path: String
        var syncsNames: Bool
    }

    /// A change of names that hasn't come to the disk.
    private enum NameChange {
        case give(String, SimulatedFile)
        case take(String)
        case rename(from: String, to: String)
    }

    /// Whether it lies about bringing something to the disk, as SQLite with `synchronous = OFF` lets every disk do.
    private let ignoresSyncs: Bool
    private var handles: [UInt32: Handle] = [:]
    private var names: [String: SimulatedFile] = [:]
    private var durableNames: [String: SimulatedFile] = [:]
    private var pendingNames: [NameChange] = []

    init(ignoresSyncs: Bool) { self.ignoresSyncs = ignoresSyncs }

    func apply(_ call: DiskCall) {
        switch call {
        case .open(let handle, let path, let isNew, let syncsNames):
            let file: SimulatedFile
            if !isNew, let known = names[path] {
                file = known
            } else {
                file = SimulatedFile()
                change(.give(path, file))
            }
            handles[handle] = Handle(file: file, path: path, syncsNames: syncsNames)
        case .write(let handle, let offset, let bytes):
            handles[handle]?.file.change(.write(offset: offset, bytes: bytes))
        case .truncate(let handle, let size): handles[handle]?.file.change(.truncate(size: size))
        case .sync(let handle): sync(handle)
        case .delete(let path, let syncsNames):
            if names[path] != nil { change(.take(path)) }
            if syncsNames { self.syncNames() }
        case .rename(let from, let to): if names[from] != nil { change(.rename(from: from, to: to)) }
        case .link(let from, let to): if let file = names[from] { change(.give(to, file)) }
        case .syncName(let path):
            guard !ignoresSyncs else { return }
            if let file = names[path] { file.sync() } else { syncNames() }
        }
    }

    private func sync(_ handle: UInt32) {
        guard !ignoresSyncs, let opened = handles[handle] else { return }
        opened.file.sync()
        guard opened.syncsNames else { return }
        handles[handle]?.syncsNames = false
        syncNames()
    }

    private func change(_ change: NameChange) {
        Self.apply(change, to: &names)
        pendingNames.append(change)
    }

    /// All names are in one folder.
    private func syncNames() {
        guard !ignoresSyncs else { return }
        for change in pendingNames { Self.apply(change, to: &durableNames) }
        pendingNames.removeAll()
    }

    private static func apply(_ change: NameChange, to names: inout [String: SimulatedFile]) {
        switch change {
        case .give(let path, let file): names[path] = file
        case .take(let path): names[path] = nil
        case .rename(let from, let to):
            guard let file = names.removeValue(forKey: from) else { return }
            names[to] = file
        }
    }

    /// The files that are there when the power comes back.
    func image(after loss: PowerLoss, _ random: inout SplitMix64) -> [String: [UInt8]] {
        var names = durableNames
        let kept = Int.random(in: 0...pendingNames.count, using: &random)
        let isInOrder = Bool.random(using: &random)
        for (index, change) in pendingNames.enumerated() {
            let isThere =
                switch loss {
                case .everything: false
                case .nothing: true
                default: isInOrder ? index < kept : Bool.random(using: &random)
                }
            if isThere { Self.apply(change, to: &names) }
        }
        return Dictionary(
            uniqueKeysWithValues: names.sorted { $0.key < $1.key }.map {
                ($0.key, $0.value.content(after: loss, &random))
            })
    }
}
