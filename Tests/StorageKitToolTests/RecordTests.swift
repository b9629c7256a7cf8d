import Foundation
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// `record` makes events of what another program wrote past the log.
@Suite struct RecordTests {
    private static let edit = """
        UPDATE users SET name = 'Anna D.'; DELETE FROM seats WHERE place = 2;
        INSERT INTO seats(row, place, guest) VALUES ('B', 1, 'yves'); INSERT INTO posts(id, title) VALUES ('new', 'N')
        """

    @Test("Foreign changes become one commit")
    func foreignChangesBecomeCommit() async throws {
        let store = try await SampleStore()
        try store.damage(Self.edit)
        let tables = try ["users", "seats", "posts"].map {
            try ToolProcess.run(["sql", "SELECT * FROM \($0)", "--format", "csv"], store: store.path).output
        }
        #expect(try ToolProcess.run(["verify"], store: store.path).status == 5)
        let outcome = try ToolProcess.run(["record", "--yes", "-m", "by hand"], store: store.path)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains("2 rows inserted, 1 row updated, 1 row deleted"), "\(outcome.output)")
        let verified = try ToolProcess.run(["verify"], store: store.path)
        #expect(verified.status == 0, "\(verified.output)")
        let after = try ["users", "seats", "posts"].map {
            try ToolProcess.run(["sql", "SELECT * FROM \($0)", "--format", "csv"], store: store.path).output
        }
        #expect(after == tables)
        let log = try ToolProcess.run(["log", "-1", "-p"], store: store.path).output
        for text in ["by hand", "Anna B. → Anna D.", "- seats/A,2", "+ seats/B,1", "+ posts/new"] {
            #expect(log.contains(text), "\(text): \(log)")
        }
        let again = try ToolProcess.run(["record", "--yes"], store: store.path)
        #expect(again.output.contains("Nothing to do"), "\(again.output)\(again.errors)")
        #expect(try ToolProcess.run(["doctor"], store: store.path).status == 0)
    }

    @Test("A dry run and one table change nothing else")
    func dryRunAndOneTable() async throws {
        let store = try await SampleStore()
        try store.damage(Self.edit)
        let planned = try ToolProcess.run(["record", "--dry-run"], store: store.path)
        #expect(planned.status == 0, "\(planned.errors)")
        #expect(planned.output.contains("Anna B. → Anna D."), "\(planned.output)")
        #expect(planned.output.contains("Would be recorded"), "\(planned.output)")
        #expect(try ToolProcess.run(["verify"], store: store.path).status == 5)
        let unconfirmed = try ToolProcess.run(["record"], store: store.path)
        #expect(unconfirmed.status == 2, "\(unconfirmed.errors)")
        let outcome = try ToolProcess.run(["record", "users", "--yes", "--format", "jsonl"], store: store.path)
        #expect(outcome.output.contains(#""inserted":0,"updated":1,"deleted":0"#), "\(outcome.output)\(outcome.errors)")
        let compared = try ToolProcess.run(["rebuild", "--compare"], store: store.path)
        #expect(compared.status == 1)
        #expect(!compared.output.contains("users: row"), "\(compared.output)")
    }
}
