import Foundation
import StorageKit
import StorageKitTool
import TestSupport

/// A store of its own on which one operation is tried while one call fails.
struct FaultCase: Sendable {
    let folder: TemporaryFolder
    let ledger: Ledger
    /// The open store, where the operation isn't about opening one.
    let storage: Storage?

    var path: String { folder.path("store.sqlite") }

    /// The open store.
    var opened: Storage {
        get throws {
            guard let storage else { throw Misuse("the operation has no open store") }
            return storage
        }
    }

    /// Runs the operation: once it has returned, these rows are there, or this file.
    func acknowledge(
        _ rows: [String: Int] = [:], file: String? = nil, _ body: () async throws -> Int64
    ) async throws {
        let write = ledger.begin(rows, file: file)
        ledger.done(write, head: try await body())
    }

    /// Runs a command of the tool.
    func tool(_ arguments: String...) async throws {
        let status = await CommandLineTool.run(arguments)
        guard status == 0 else { throw ToolFailure(status: status) }
    }
}

/// A command of the tool has said that it failed.
struct ToolFailure: Error { let status: Int32 }
