/// Those who run live workloads.
enum LiveContenders {
    /// Who takes part in a measurement.
    struct Cast: OptionSet {
        let rawValue: Int
        static let storageKit = Cast(rawValue: 1)
        /// Both kinds of GRDB's observations.
        static let observations = Cast(rawValue: 2)
        /// Both stores with nobody looking.
        static let unwatched = Cast(rawValue: 4)
        static let all: Cast = [.storageKit, .observations, .unwatched]
    }

    /// - Parameter label: What tells this workload apart from others of the same benchmark.
    static func contenders(_ workload: LiveWorkload, _ label: String = "", cast: Cast = .all) -> [Contender] {
        var contenders: [Contender] = []
        if cast.contains(.unwatched) {
            contenders += [
                contender(ContenderName.unobserved + label, workload.unwatched) { try await grdb($0, .each, $1) },
                contender(ContenderName.unwatched + label, workload.unwatched) { try await storageKit($0, $1) },
            ]
        }
        if cast.contains(.observations) {
            contenders += [
                contender(ContenderName.observation + label, workload) { try await grdb($0, .each, $1) },
                contender(ContenderName.constantRegion + label, workload) {
                    try await grdb($0, .constantRegion, $1)
                },
            ]
        }
        if cast.contains(.storageKit) {
            contenders.append(contender(ContenderName.storageKit + label, workload) { try await storageKit($0, $1) })
        }
        return contenders
    }

    /// Those whose readers rest.
    static func resting(_ workload: LiveWorkload) -> [Contender] {
        [
            contender(ContenderName.observation + ", resting", workload) { try await grdb($0, .each, $1) },
            contender(ContenderName.storageKit + ", resting", workload) { try await storageKit($0, $1) },
        ]
    }

    /// Views that come and go, as cells do that are scrolled over.
    static func storm(_ workload: LiveWorkload) -> [Contender] {
        [
            storm(ContenderName.observation, workload) { try await grdb($0, .each, $1) },
            storm(ContenderName.constantRegion, workload) { try await grdb($0, .constantRegion, $1) },
            storm(ContenderName.storageKit, workload) { try await storageKit($0, $1) },
        ]
    }

    private static func grdb(
        _ workload: LiveWorkload, _ tracking: GRDBLiveStore.Tracking, _ workspace: Workspace
    ) async throws -> any LiveStore { try await GRDBLiveStore(workload, tracking, in: workspace) }

    private static func storageKit(_ workload: LiveWorkload, _ workspace: Workspace) async throws -> any LiveStore {
        try await StorageKitLiveStore(workload, in: workspace)
    }

    private static func contender(
        _ name: String, _ workload: LiveWorkload,
        open: @escaping (LiveWorkload, Workspace) async throws -> any LiveStore
    ) -> Contender {
        // The followers must be gone before the store is closed.
        let box = StateBox<LiveRun>()
        return Contender(
            name: name,
            prepare: { box.state = try await LiveRun(open(workload, $0), workload) },
            run: { try await box.prepared.measure() },
            cleanup: {
                let store = box.state?.store
                box.state = nil
                try await store?.close()
            })
    }

    private static func storm(
        _ name: String, _ workload: LiveWorkload,
        open: @escaping (LiveWorkload, Workspace) async throws -> any LiveStore
    ) -> Contender {
        Contender(
            name,
            prepare: { try await open(workload, $0) },
            run: { store in
                for question in workload.questions {
                    let arrivals = LiveArrivals(views: 1)
                    arrivals.expect(.anything, of: .everybody)
                    let followers = try await store.follow([question], arrivals)
                    _ = try await arrivals.last()
                    withExtendedLifetime(followers) {}
                }
                return []
            },
            cleanup: { try await $0.close() })
    }
}
