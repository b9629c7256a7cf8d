/// A revision of the Model Context Protocol.
enum MCPVersion: String, CaseIterable, Comparable, Sendable {
    case november2024 = "2024-11-05"
    case march2025 = "2025-03-26"
    case june2025 = "2025-06-18"
    case november2025 = "2025-11-25"
    /// Each request contains its version; there is no `initialize`.
    case july2026 = "2026-07-28"

    /// The newest revision with `initialize`, offered to a client whose version is unknown.
    static let newestWithHandshake = november2025

    var hasHandshake: Bool { self < .july2026 }
    /// Only this revision allows several messages in an array.
    var hasBatches: Bool { self == .march2025 }
    var hasAnnotations: Bool { self >= .march2025 }
    var hasProgressMessages: Bool { self >= .march2025 }
    /// Whether answers are also sent as objects with schemas, and tools have titles.
    var hasStructuredContent: Bool { self >= .june2025 }

    static func < (one: MCPVersion, other: MCPVersion) -> Bool { one.rawValue < other.rawValue }
}
