internal import Foundation
internal import StorageCore
internal import Synchronization

/// The columns of an embeddable type, determined by decoding it from a recording decoder.
struct EmbeddedSchema: Sendable {
    struct Column: Sendable {
        let name: String
        let type: String
        let coding: String
        let isNullable: Bool
        /// The value of rows that are older than the column.
        let neutral: StorageValue?
        /// The property's type, without its optional.
        let property: ObjectIdentifier
        /// Why the column doesn't keep every value of its type; nil if no reason is known.
        let conversionProblem: String?
    }

    var columns: [Column] = []
    var problem: String?

    private static let known = Mutex<[ObjectIdentifier: EmbeddedSchema]>([:])

    static func of<Value: Embeddable>(_ type: Value.Type) -> EmbeddedSchema {
        let key = ObjectIdentifier(type)
        if let shape = known.withLock({ $0[key] }) { return shape }
        let shape = learn(type)
        known.withLock { $0[key] = shape }
        return shape
    }

    private static func learn<Value: Embeddable>(_ type: Value.Type) -> EmbeddedSchema {
        let probe = EmbeddedProbe(varying: nil)
        do {
            _ = try Value(from: probe)
        } catch {
            return EmbeddedSchema(problem: probe.problem ?? "the columns of \(Value.self) can't be learnt: \(error)")
        }
        if probe.columns.isEmpty { return EmbeddedSchema(problem: "\(Value.self) has no properties to embed") }
        return EmbeddedSchema(columns: probe.columns)
    }

    /// Sound as `@unchecked Sendable`: a path of properties holds only their offsets, so any thread may compare it.
    private struct Path: Hashable, @unchecked Sendable { let path: AnyKeyPath }

    private static let paths = Mutex<[Path: String?]>([:])

    /// The property that a key path leads to: the one that holds the value at its end, and with which that value changes. A
    /// property that is computed from another changes with it too, but holds a different value.
    static func column<Root: Embeddable, Value>(of path: KeyPath<Root, Value>) -> String? {
        let key = Path(path: path)
        if let known = paths.withLock({ $0[key] }) { return known }
        let column = probe(path)
        paths.withLock { $0[key] = .some(column) }
        return column
    }

    private static func probe<Root: Embeddable, Value>(_ path: KeyPath<Root, Value>) -> String? {
        guard let usual = try? Root(from: EmbeddedProbe(varying: nil)) else { return nil }
        var constant: [Column] = []
        for column in of(Root.self).columns {
            let probe = EmbeddedProbe(varying: column.name)
            guard let varied = try? Root(from: probe) else {
                constant.append(column)
                continue
            }
            let value = varied[keyPath: path]
            if isSame(usual[keyPath: path], value) { continue }
            return probe.varied.map { isSame($0, value) } ?? false ? column.name : nil
        }
        // If no column changed the property, it is the one column of its type for which no second sample value could be guessed.
        guard MemoryLayout<Root>.offset(of: path) != nil else { return nil }
        // One that isn't coded has no column at all.
        let properties = Mirror(reflecting: usual).children.filter { type(of: $0.value) == Value.self }
        guard properties.count == 1 else { return nil }
        let property = (Value.self as? any Wrapping.Type).map { $0.wrapped } ?? ObjectIdentifier(Value.self)
        let candidates = constant.filter { $0.property == property }
        return candidates.count == 1 ? candidates[0].name : nil
    }

    private static func isSame(_ left: Any, _ right: Any) -> Bool {
        let (left, right) = (unwrapped(left), unwrapped(right))
        if let left = left as? any Hashable, let right = right as? any Hashable {
            return AnyHashable(left) == AnyHashable(right)
        }
        return "\(left)" == "\(right)"
    }

    private static func unwrapped(_ value: Any) -> Any {
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .optional ? mirror.children.first?.value ?? value : value
    }
}

private protocol Wrapping {
    static var wrapped: ObjectIdentifier { get }
}

extension Optional: Wrapping {
    fileprivate static var wrapped: ObjectIdentifier { ObjectIdentifier(Wrapped.self) }
}
