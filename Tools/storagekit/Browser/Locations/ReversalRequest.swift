import ArgumentParser
import StorageKit

/// The command that reverts changes.
struct ReversalRequest: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        case undo
        case redo
        case revert(Int64)
    }

    var kind: Kind
    var onConflict: ConflictChoice = .abort

    /// Its arguments, without a reason.
    var words: [String] {
        let command =
            switch kind {
            case .undo: ["undo"]
            case .redo: ["redo"]
            case .revert(let commit): ["revert", "t:\(commit)"]
            }
        return command + (onConflict == .abort ? [] : ["--on-conflict", onConflict.rawValue])
    }

    /// The command as `storagekit` runs it.
    func command(store: String, reason: String = "") throws -> any ReversalCommand {
        let words = Array(words.dropFirst()) + ["--store=\(store)"] + (reason.isEmpty ? [] : ["--reason=\(reason)"])
        switch kind {
        case .undo: return try UndoCommand.parse(words)
        case .redo: return try RedoCommand.parse(words)
        case .revert: return try RevertCommand.parse(words)
        }
    }
}
