internal import StorageCore

/// What a write did to its document.
enum DocumentOperation: Sendable, Equatable {
    case save(DocumentFields)
    /// Fields as JSON text; null for removed ones.
    case patch([String: String])
    case delete
    /// Only columns that aren't sent were changed.
    case nothing

    /// The operation that turns one document into another; nil means there is none.
    init(from old: DocumentFields?, to new: DocumentFields?) {
        switch (old, new) {
        case (_, nil): self = old == nil ? .nothing : .delete
        case (nil, let new?): self = .save(new)
        case (let old?, let new?):
            let patch = new.patch(from: old)
            self = patch.isEmpty ? .nothing : .patch(patch)
        }
    }

    /// Whether the previous state of the document is irrelevant.
    var replaces: Bool {
        switch self {
        case .save, .delete: true
        case .patch, .nothing: false
        }
    }

    /// Combines this operation with a later one of the same document.
    ///
    /// Not for an operation after a deletion: the document it was based on would be lost.
    func followed(by later: DocumentOperation) -> DocumentOperation {
        switch (self, later) {
        case (_, .nothing): return self
        case (.save(var fields), .patch(let patch)):
            fields.apply(patch)
            return .save(fields)
        case (.patch(let first), .patch(let second)): return .patch(first.merging(second) { $1 })
        case (_, .save), (_, .delete), (.nothing, _), (.delete, _): return later
        }
    }

    func apply(to document: inout DocumentFields?) {
        switch self {
        case .save(let fields): document = fields
        case .patch(let patch): document?.apply(patch)
        case .delete: document = nil
        case .nothing: break
        }
    }
}

extension DocumentOperation {
    /// A change by a remote. Its values are JSON texts.
    init(_ operation: WriteOperation) {
        switch operation {
        case .save(let values): self = .save(DocumentFields(values.texts))
        case .patch(let values): self = .patch(values.texts)
        case .delete: self = .delete
        }
    }
}

extension DocumentFields {
    /// The values in the form of a remote's change.
    var storageValues: [String: StorageValue] { values.mapValues { .text($0) } }
}

extension [String: StorageValue] {
    /// The texts among values that are JSON texts.
    package var texts: [String: String] {
        compactMapValues { if case .text(let text) = $0 { text } else { nil } }
    }
}
