public import Logging

/// Forwards the events of sync engines to swift-log.
///
/// ```swift
/// let logger = SwiftLogSyncLogger(Logger(label: "app.sync"))
/// let tasksSyncEngine = CollectionSyncEngine<Task>(remote: remote, managerKey: "tasks", logger: logger)
/// ```
///
/// An event's name becomes the message, its parameters become metadata, and its ``DataLogType`` determines the level:
/// by default `info` is logged as `debug`, `analytic` as `info`, and `severe` as `error`. User properties become
/// metadata of all later events, prefixed with `user_`.
///
/// Isolation: the main actor. The logger's handler is called there.
@MainActor
public final class SwiftLogSyncLogger: DataSyncLogger {
    private var logger: Logger
    private let level: @Sendable (DataLogType) -> Logger.Level

    /// Creates a logger.
    ///
    /// - Parameters:
    ///   - logger: The logger that receives the events. Events below its level aren't formatted.
    ///   - level: Returns the log level for an event's type.
    public nonisolated init(
        _ logger: Logger, level: @escaping @Sendable (DataLogType) -> Logger.Level = SwiftLogSyncLogger.level(of:)
    ) {
        self.logger = logger
        self.level = level
    }

    /// Returns the default log level for an event's type.
    @Sendable public nonisolated static func level(of type: DataLogType) -> Logger.Level {
        switch type {
        case .info: .debug
        case .analytic: .info
        case .severe: .error
        }
    }

    /// Logs an event.
    public func trackEvent(event: any DataSyncLogEvent) {
        let level = level(event.type)
        guard level >= logger.logLevel else { return }
        logger.log(
            level: level, "\(event.eventName)",
            metadata: (event.parameters ?? [:]).mapValues(Self.metadata), source: "StorageSync")
    }

    /// Adds metadata to all later events.
    public func addUserProperties(dict: [String: Any], isHighPriority: Bool) {
        for (name, value) in dict { logger[metadataKey: "user_\(name)"] = Self.metadata(value) }
    }

    private static func metadata(_ value: Any) -> Logger.MetadataValue {
        switch value {
        case let value as [String: Any]: .dictionary(value.mapValues(metadata))
        case let values as [Any]: .array(values.map(metadata))
        default: .string("\(value)")
        }
    }
}
