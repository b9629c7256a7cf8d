import CSQLite
import Foundation
import StorageKit

/// A value of a change that matches a pattern.
struct ValueMatch {
    enum Change: String {
        case appeared, vanished
        /// Both the old and the new value match.
        case kept
    }

    /// The index among the event's columns; negative for the key, -1 being its first part.
    let index: Int
    let change: Change
}

/// Looks for a pattern in the values of events.
struct ValueSearch {
    let pattern: ValuePattern
    let catalog: Catalog
    /// Returns whether a kind of match counts.
    let isWanted: (ValueMatch.Change) -> Bool

    /// Returns the matching values of an event. Nothing is copied if nothing can match.
    func matches(_ batch: EventBatch, _ index: Int) -> [ValueMatch] {
        batch.withView { view in
            let shape = view.shape(of: index)
            let count = Int(shape.column_count)
            let values = view.columns(of: index)
            let operation = StorageEvent.Operation(shape)
            var found: [ValueMatch] = []
            func add(_ index: Int, old: Bool, new: Bool) {
                guard old || new else { return }
                let change: ValueMatch.Change = old && new ? .kept : new ? .appeared : .vanished
                if isWanted(change) { found.append(ValueMatch(index: index, change: change)) }
            }
            if operation != .update {
                for part in 0..<Int(shape.key_count)
                where isMatch(
                    view.key(of: index)[part], in: view, column: catalog.entity(id: shape.entity)?.keyId(part))
                {
                    add(-part - 1, old: operation == .delete, new: operation == .insert)
                }
            }
            for index in 0..<count {
                let column = shape.columns[index]
                switch operation {
                case .insert: add(index, old: false, new: isMatch(values[index], in: view, column: column))
                case .delete: add(index, old: isMatch(values[index], in: view, column: column), new: false)
                case .update:
                    add(
                        index, old: isMatch(values[index], in: view, column: column),
                        new: isMatch(values[count + index], in: view, column: column))
                }
            }
            return found
        }
    }

    private func isMatch(
        _ value: storage_value, in view: EventView, column: @autoclosure () -> UInt32?
    ) -> Bool {
        if value.type == UInt32(SQLITE_BLOB), value.size == MemoryLayout<uuid_t>.size,
            let coding = column().flatMap({ catalog.column(id: $0) })?.coding,
            let uuid = view.value(value).uuid(coding)?.uuidString
        {
            // UUIDs are shown in capitals, and often typed in lower case.
            return pattern.matches(uuid) || pattern.matches(uuid.lowercased())
        }
        if value.hasBytes { return pattern.matches(value.bytes(from: view.bytes)) }
        guard !value.isNull, pattern.canMatchNumbers else { return false }
        let known = column().flatMap { catalog.column(id: $0) }
        return pattern.matches(
            ValueText.plain(
                StorageEvent.Field(
                    column: "", value: view.value(value), type: known?.type ?? "", coding: known?.coding ?? "")))
    }
}

extension CatalogEntity {
    /// The id of one column of the key.
    fileprivate func keyId(_ part: Int) -> UInt32? {
        let key = key
        return key.indices.contains(part) ? key[part].id : nil
    }
}
