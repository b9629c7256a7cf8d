internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageLog
internal import StorageViews

/// A query of a client, as a live query of the store: the documents that ``StoreHub/documents(of:matching:as:)`` finds.
///
/// Documents are selected and sorted by the same rules as there, with the same visibility. Changes are matched by conditions that every such document
/// meets, so that a write costs followers of other tenants nothing.
struct HubLiveQuery {
    typealias Live = LiveQuery<[HubLiveDocument], ListDifference<HubLiveDocument>>
    typealias Spec = EvaluatedListSpec<HubLiveRow, HubLiveDocument, SortKey>

    /// The values by which a document is sorted in the result, and its id.
    struct SortKey {
        let values: [JSONValue]
        let id: String
    }

    let entity: String
    let query: QueryEvaluation
    let scope: HubScope
    let memory: LiveQueryMemory.Share
    /// The columns by which changes are matched, as of the start of the query, and the values that they must equal.
    private let anchors: [(column: CatalogColumn, value: StorageValue)]

    init(
        of table: HubEntityTable, _ filters: [QueryFilter], _ query: QueryEvaluation, _ scope: HubScope,
        memory: LiveQueryMemory.Share
    ) {
        entity = table.name
        (self.query, self.scope, self.memory) = (query, scope, memory)
        let wanted =
            (scope.anchors ?? []).map { ($0.column, StorageValue.text($0.text)) } + filters.compactMap(\.anchor)
        anchors = wanted.compactMap { name, value in
            guard let column = try? table.column(name), column.isComparedAsStored else { return nil }
            return (column, value)
        }
    }

    func live(_ engine: SubscriptionEngine) -> Live {
        let (entity, query, scope, anchors) = (entity, query, scope, anchors)
        let evaluation: @Sendable (Database) throws -> Spec.Evaluation = { db in
            let connection = try db.connection
            let catalog = try Catalog.load(connection)
            guard let table = catalog.entity(named: entity).flatMap(HubEntityTable.init) else {
                throw StorageError(
                    .notFound, "There is no collection \"\(entity)\" any more.", remedy: "Follow it again later.")
            }
            do {
                try scope.checkCondition(on: table.entity, LogReader(connection), catalog)
            } catch let error as HubError {
                throw StorageError(.invalidQuery, error.reason, remedy: "Ask for another token.", cause: error)
            }
            // A column that was dropped and added again may compare differently.
            guard anchors.allSatisfy({ anchor in (try? table.column(anchor.column.name))?.id == anchor.column.id })
            else {
                throw StorageError(.busy, "The collection has changed.", remedy: "Follow it again.")
            }
            return Spec.Evaluation(RowForm(table)) { row in
                guard let id = row.id, scope.sees(row.row, in: table) else { return nil }
                let document = row.document(id)
                return query.sortKey(of: document.json).map {
                    (document.document, SortKey(values: $0, id: id))
                }
            }
        }
        return .evaluated(
            engine,
            Spec(
                entity: entity, limit: query.limit, isLimitedToLast: query.isLimitedToLast,
                memory: Spec.Memory(limit: memory.limit, byteCount: { $0.byteCount }, reserve: { try memory.set($0) }),
                isBefore: { query.isBefore(($0.values, $0.id), ($1.values, $1.id)) },
                predicate: { columns in
                    let known = anchors.filter { columns.contains($0.column.name) }
                    return known.isEmpty ? nil : .all(known.map { Self.widened($0.column.name, $0.value) })
                },
                evaluation: evaluation))
    }

    /// Whether a column equals a value, or holds bytes: a value of another type than the column's is stored as bytes, and compared by its meaning.
    private static func widened(_ column: String, _ value: StorageValue) -> RowPredicate {
        .any([
            .comparison(column: column, .equal, .value(value)),
            .comparison(column: column, .greaterOrEqual, .value(.blob(Data()))),
        ])
    }
}

extension QueryFilter {
    /// The column and the value that it must equal, unless it holds bytes, for a document to match; nil if the filter
    /// requires no such value.
    fileprivate var anchor: (String, StorageValue)? {
        guard `operator` == .isEqualTo, field.fieldPath.count == 1 else { return nil }
        return switch try? JSONValue(encoding: value) {
        case .string(let text): (field, .text(text))
        case .integer(let number): (field, .integer(number))
        default: nil
        }
    }
}
