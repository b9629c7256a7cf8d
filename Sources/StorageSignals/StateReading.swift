internal import StorageKit

/// The metrics of a store at one moment.
struct StateReading: Sendable {
    private(set) var totals: [(label: String, value: Double)] = []
    private(set) var gauges: [(label: String, labels: [(String, String)], value: Double)] = []

    /// Creates an empty reading.
    init() {}

    /// - Throws: `closed` after the store.
    init(_ storage: Storage) async throws {
        for family in try await storage.metrics().families {
            // Timers report durations individually.
            guard family.kind != .histogram else { continue }
            for (_, labels, value) in family.samples {
                if family.kind == .counter, labels.isEmpty {
                    totals.append((family.name, value.number))
                } else {
                    gauges.append((family.name, labels.map { ($0.name, $0.value) }, value.number))
                }
            }
        }
    }
}
