internal import Foundation
internal import GRDB
internal import StorageEntities
internal import StorageRecords

extension Equatable {
    /// Whether a reader that has the other value has this one: both are equal, and so are the bytes of their texts.
    ///
    /// Swift's texts are equal if only their Unicode form differs, such as é as one character or as two; SQLite's aren't. The
    /// bytes are compared of a text, of an array of texts, and of the columns of an entity or an array of entities, also of those
    /// that a search has found or that have aggregates; for other values, `==` decides alone.
    package func isSame(as other: Self) -> Bool { self == other && haveSameTexts(self, other) }
}

/// A value that consists of others, whose texts are compared part by part.
protocol Composed {
    var parts: [any Equatable] { get }
}

extension SearchResult: Composed where Entity: Equatable {
    var parts: [any Equatable] { [entity, snippet] }
}

/// Whether no text of two equal values differs in its Unicode form alone.
private func haveSameTexts(_ one: Any, _ other: Any) -> Bool {
    switch (one, other) {
    case (let one as String, let other as String): return ExactText(one) == ExactText(other)
    case (let one as [String], let other as [String]):
        return zip(one, other).allSatisfy { ExactText($0) == ExactText($1) }
    case (let one as any RegisteredEntity, _): return one.hasSameTexts(as: other)
    case (let one as [any RegisteredEntity], let other as [any RegisteredEntity]):
        return zip(one, other).allSatisfy { $0.hasSameTexts(as: $1) }
    case (let one as any Composed, let other as any Composed):
        return zip(one.parts, other.parts).allSatisfy { haveSameTexts($0, $1) }
    default: return true
    }
}

extension RegisteredEntity {
    /// Whether no text of a column differs from that of an equal entity in its Unicode form alone. Values that are equal may be
    /// encoded as JSON in another order, which is no difference.
    fileprivate func hasSameTexts(as other: Any) -> Bool {
        let now = Date(timeIntervalSinceReferenceDate: 0)
        guard let other = other as? Self,
            let values = try? Record.from(self, now: now).databaseDictionary,
            let others = try? Record.from(other, now: now).databaseDictionary
        else { return true }
        return values.allSatisfy { column, value in
            guard case .string(let text) = value.storage, case .string(let other)? = others[column]?.storage
            else { return true }
            return text != other || ExactText(text) == ExactText(other)
        }
    }
}
