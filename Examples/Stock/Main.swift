import Foundation
import StorageKit

/// `stock add bolts 40 delivery`, with the store named by the environment variable STOCK.
@main
enum Main {
    static func main() async {
        let environment = ProcessInfo.processInfo.environment
        let url = URL(fileURLWithPath: environment["STOCK"] ?? "stock.sqlite")
        do {
            let stock = try Stock(at: url)
            try await CommitContext.$actor.withValue(environment["USER"] ?? "unknown") {
                try await run(Array(CommandLine.arguments.dropFirst()), on: stock)
            }
            try await stock.storage.close()
        } catch {
            print("stock: \(error)")
            exit(1)
        }
    }

    static func run(_ arguments: [String], on stock: Stock) async throws {
        let (command, id) = (arguments.first, arguments.dropFirst().first)
        let count = arguments.dropFirst(2).first.flatMap { Int($0) }
        let reason = arguments.dropFirst(3).first
        switch (command, id, count) {
        case ("add", let id?, let count?):
            print("\(try await stock.change(id, by: count, reason: reason).count) \(id)")
        case ("take", let id?, let count?):
            print("\(try await stock.change(id, by: -count, reason: reason).count) \(id)")
        case ("list", nil, nil):
            for item in try await stock.list() { print("\(item.count) \(item.id)") }
        case ("history", let id?, nil):
            for line in try await stock.history(of: id) { print(line) }
        case ("undo", nil, nil):
            print(try await stock.undo())
        case ("redo", nil, nil):
            try await stock.redo()
            print("Redone.")
        default:
            print("stock add|take ITEM COUNT [REASON], stock list, stock history ITEM, stock undo, stock redo")
        }
    }
}
