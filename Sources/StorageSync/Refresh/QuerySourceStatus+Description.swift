internal import Foundation

extension QuerySourceStatus: CustomStringConvertible {
    /// The status in one line: `News.latest: refreshed 2026-01-15T10:00:00Z, 2 failures, next 2026-01-15T10:05:00Z: timed out`.
    public var description: String {
        var parts = [lastRefresh.map { "refreshed \($0.formatted(.iso8601))" } ?? "never refreshed"]
        if failures > 0 { parts.append("\(failures) failure\(failures == 1 ? "" : "s")") }
        if isRefused { parts.append("refused") }
        if let nextRefresh { parts.append("next \(nextRefresh.formatted(.iso8601))") }
        return "\(source)\(parameter.isEmpty ? "" : "(\(parameter))"): \(parts.joined(separator: ", "))"
            + (lastError.map { ": \($0)" } ?? "")
    }
}
