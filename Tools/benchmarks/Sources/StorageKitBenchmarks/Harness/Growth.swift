/// Tasks that are measured in logs of several lengths.
struct Growth {
    struct Task {
        let name: String
        /// In one run: what is shown is the time of one.
        var operations = 1
        /// Those who do it in a log of so many events; StorageKit among them.
        let contenders: (Int, Workspace) async throws -> [Contender]
    }

    let tasks: [Task]
    let sizes: [Int]

    /// Each task in each log.
    func contenders(in workspace: Workspace) async throws -> [Contender] {
        var all: [Contender] = []
        for task in tasks {
            for events in sizes {
                all += try await task.contenders(events, workspace)
                    .filter { $0.name == ContenderName.storageKit }
                    .map { $0.named(Self.name(of: task, events)) }
            }
        }
        return all
    }

    /// Milliseconds of one operation in each round; empty where the task wasn't run.
    func milliseconds(
        of task: Task, events: Int, in result: BenchmarkResult, _ seconds: (ContenderResult) -> [Double]
    ) -> [Double] {
        let contender = result.contender(Self.name(of: task, events))
        return contender.map(seconds)?.map { $0 * 1_000 / Double(task.operations) } ?? []
    }

    private static func name(of task: Task, _ events: Int) -> String {
        "\(task.name), \(Format.count(events)) events"
    }
}
