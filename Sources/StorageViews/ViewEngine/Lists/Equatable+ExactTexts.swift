internal import Foundation
internal import GRDB
internal import StorageEntities
internal import StorageRecords

extension Equatable {
    /// Whether a reader that has the other value has this one: both are equal, and so are the bytes of their texts.
    ///
    /// Swift's texts are equal if only their Unicode form differs, such as é as one character or as two; SQLite's aren't. The
    /// bytes are compared of a text, of an array of texts, and of the columns of an entity or an array of entities; for other
    /// values, `==` decides alone.
    package func isSame(as other: Self) -> Bool {
        guard self == other else { return false }
        if let text = self as? String, let other = other as? String { return ExactText(text) == ExactText(other) }
        if let texts = self as? [String], let others = other as? [String] {
            return zip(texts, others).allSatisfy { ExactText($0) == ExactText($1) }
        }
        if let entities = self as? [any RegisteredEntity], let others = other as? [any RegisteredEntity] {
            return zip(entities, others).allSatisfy { $0.hasSameTexts(as: $1) }
        }
        return (self as? any RegisteredEntity)?.hasSameTexts(as: other) ?? true
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
