@testable import StorageLog

extension StorageEngine {
    /// What is wrong between the whole log and the tables.
    func faults() async throws -> [String] {
        try await withWriter { writer, _ in
            var oracle = LogOracle()
            let faults = oracle.apply(try LogReader(writer.database).events())
            return try faults + oracle.differences(writer.dump(), writer.catalog)
                + (Catalog.load(writer.database) == writer.catalog
                    ? [] : ["the catalog in memory isn't the stored one"])
        }
    }
}
