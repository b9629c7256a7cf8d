/// One way to do the work of a benchmark. A run is `prepare`, `run`, `cleanup`; only `run` is measured.
struct Contender {
    let name: String
    let prepare: (Workspace) async throws -> Void
    let run: () async throws -> [Metric]
    let cleanup: () async throws -> Void

    func named(_ name: String) -> Contender {
        Contender(name: name, prepare: prepare, run: run, cleanup: cleanup)
    }
}

extension Contender {
    /// A contender whose three steps share a state: `prepare` makes it, the others receive it.
    init<State>(
        _ name: String,
        prepare: @escaping (Workspace) async throws -> State,
        run: @escaping (State) async throws -> [Metric],
        cleanup: @escaping (State) async throws -> Void = { _ in }
    ) {
        let box = StateBox<State>()
        self.init(
            name: name,
            prepare: { box.state = try await prepare($0) },
            run: { try await run(box.prepared) },
            cleanup: {
                guard let state = box.state else { return }
                box.state = nil
                try await cleanup(state)
            })
    }
}
