internal import Foundation
internal import StorageCore
internal import Synchronization

/// The columns of an embeddable type, learnt by letting it decode itself from a decoder that takes notes.
struct EmbeddedShape: Sendable {
    struct Column: Sendable {
        let name: String
        let type: String
        let isNullable: Bool
    }

    var columns: [Column] = []
    var problem: String?

    private static let known = Mutex<[ObjectIdentifier: EmbeddedShape]>([:])

    static func of<Value: Embeddable>(_ type: Value.Type) -> EmbeddedShape {
        let key = ObjectIdentifier(type)
        if let shape = known.withLock({ $0[key] }) { return shape }
        let shape = learn(type)
        known.withLock { $0[key] = shape }
        return shape
    }

    private static func learn<Value: Embeddable>(_ type: Value.Type) -> EmbeddedShape {
        let probe = EmbeddedProbe(varying: nil)
        do {
            _ = try Value(from: probe)
        } catch {
            return EmbeddedShape(problem: probe.problem ?? "the columns of \(Value.self) can't be learnt: \(error)")
        }
        if probe.columns.isEmpty { return EmbeddedShape(problem: "\(Value.self) has no properties to embed") }
        return EmbeddedShape(columns: probe.columns)
    }

    /// The property that a key path leads to: the one with which its value changes.
    static func column<Root: Embeddable, Value>(of path: KeyPath<Root, Value>) -> String? {
        guard let usual = try? Root(from: EmbeddedProbe(varying: nil)) else { return nil }
        for column in of(Root.self).columns {
            guard let varied = try? Root(from: EmbeddedProbe(varying: column.name)) else { continue }
            if !isSame(usual[keyPath: path], varied[keyPath: path]) { return column.name }
        }
        return nil
    }

    private static func isSame<Value>(_ left: Value, _ right: Value) -> Bool {
        if let left = left as? any Hashable, let right = right as? any Hashable {
            return AnyHashable(left) == AnyHashable(right)
        }
        return "\(left)" == "\(right)"
    }
}
