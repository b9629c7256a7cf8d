package import GRDB
internal import StorageCore
package import StorageLog

extension UserProjections {
    /// Changes the stored state of a projection that isn't registered here, in one transaction.
    ///
    /// A reset only sets its version to 0, so that the program that declares it recreates it.
    ///
    /// - Parameter operation: The operation to record if anything changes, with its metadata; nil if the caller records
    ///   it.
    /// - Returns: Whether anything has changed.
    @discardableResult
    package func instruct(
        _ name: String, to instruction: ProjectionInstruction,
        recording operation: (StorageOperation, CommitMetadata)?, on writer: LogWriter, _ db: GRDB.Database
    ) throws -> Bool {
        try writer.group(db) {
            guard var checkpoint = try Checkpoint.load(name, writer.database) else {
                throw StorageError.noProjection(name)
            }
            let before = checkpoint
            switch instruction {
            case .pause: if checkpoint.state == .running { checkpoint.state = .paused }
            case .resume, .reset: checkpoint.resume()
            }
            var isChanged = checkpoint != before
            if isChanged { try checkpoint.save(name, writer) }
            if instruction == .reset {
                let update = try writer.statement(
                    "UPDATE storage_projection SET version = 0 WHERE name = ?1 AND version <> 0")
                update.bind(text: name, at: 1)
                try writer.asEngine { try update.execute() }
                isChanged = isChanged || update.changes > 0
            }
            guard isChanged else { return false }
            if let (operation, metadata) = operation { try writer.record(operation, metadata: metadata) }
            return true
        }
    }
}
