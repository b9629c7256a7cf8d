import Testing

/// An option that would change nothing is refused, because its user expects something of it.
struct OptionsWithoutEffectTests {
    @Test(
        "An option without an effect is refused",
        arguments: [
            ("log --oneline --format jsonl", "--oneline can't be combined with --format jsonl."),
            ("log -p --format csv", "--patch can't be combined with --format csv."),
            ("log -p --format md", "--patch can't be combined with --format md."),
            ("log --template x --format csv", "--template can't be combined with --format csv."),
            ("history posts/b#title --fields views", "A cell has one column: omit --fields, or name the row."),
            ("tail -n 5 --from t:2", "--from shows every event after it: omit --limit."),
            ("watch posts --pace 5 --for 0", "--pace requires --from."),
            ("tokens create anna --write posts --tenant-column org", "--tenant-column requires --tenant."),
            (
                "outbox retry --parked",
                "retry ends the wait. To send parked writes again, name a document, or add --all."
            ),
            ("tokens --tenant-column org", "Only create takes grants and conditions."),
        ])
    func refused(line: String, reason: String) async throws {
        let store = try await SampleStore()
        let outcome = try ToolProcess.run(line.split(separator: " ").map(String.init), store: store.path)
        #expect(outcome.status == 2, "\(line): \(outcome)")
        #expect(outcome.errors.contains("error: \(reason)"), "\(line): \(outcome.errors)")
        #expect(outcome.output == "", "\(line)")
    }

    @Test(
        "What has an effect is done",
        arguments: ["log -p --format json", "log --oneline", "tail -n 2", "tail --from t:4"])
    func done(line: String) async throws {
        let store = try await SampleStore.shared.value
        let outcome = try ToolProcess.run(line.split(separator: " ").map(String.init), store: store.path)
        #expect(outcome.status == 0, "\(line): \(outcome)")
        #expect(outcome.output != "", "\(line)")
    }
}
