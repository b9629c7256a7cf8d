import StorageCore
import StorageLog

@testable import StorageRouting

/// The example in the comments of `StorageRouting`, compiled and not run.
enum CommentExamples {
    static func route(
        _ changes: ChangeFold, view: EventView, rows: CurrentRows?, orders: RowLayout, predicate: RowPredicate,
        position: Int64
    ) throws {
        let layout = orders
        let router = Router()
        router.add(layout)
        let token = try router.register(
            layout.entity, where: predicate, affecting: layout.mask(of: ["status", "total"]))
        router.fill(changes) { $0.add(view, 0..<view.count, first: position) }
        for routed in router.route(changes, rows: rows) where routed.token == token { print(routed) }
    }
}
