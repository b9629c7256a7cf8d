internal import CSQLite
internal import StorageCore

extension LogWriter {
    /// Runs a part of the current transaction, which is undone if it throws.
    package func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value {
        try statement("SAVEPOINT storage_part").execute()
        do {
            let value = try body()
            try statement("RELEASE storage_part").execute()
            return value
        } catch {
            // The transaction fails then, and ``classified(_:)`` asks the connection for the result of its last call. SQLite may also have
            // ended it by itself, as RAISE(ROLLBACK) does.
            guard !isOfTheFile(error), storage_capture_ended(capture) == 0 else { throw error }
            try statement("ROLLBACK TO storage_part").execute()
            try statement("RELEASE storage_part").execute()
            throw error
        }
    }

    private func isOfTheFile(_ error: any Error) -> Bool {
        guard let known = StorageError.wrapping(error) as? StorageError else { return false }
        return [.ioError, .corrupt].contains(known.code) && !known.isOfVirtualTable || known.isStoreFailure
    }
}
