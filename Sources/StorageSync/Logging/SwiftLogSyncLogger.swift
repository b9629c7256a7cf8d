public import Logging

/// Hands the events of sync engines on to swift-log.
///
/// ```swift
/// let logger = SwiftLogSyncLogger(Logger(label: "app.sync"))
/// let tasksSyncEngine = CollectionSyncEngine<Task>(remote: remote, managerKey: "tasks", logger: logger)
/// ```
///
/// An event's name is the message, its parameters are metadata, and its ``DataLogType`` decides the level: `info` is `debug`, `analytic`
/// is `info`, `severe` is `error`, unless you say otherwise. Properties of the user become metadata of all later events, behind
/// `user_`.
///
/// Isolation: the main actor. The logger's handler is called there.
@MainActor
public final class SwiftLogSyncLogger: DataSyncLogger {
    private var logger: Logger
    private let level: @Sendable (DataLogType) -> Logger.Level

    /// - Parameters:
    ///   - logger: Events below its level aren't made into messages.
    ///   - level: The level of an event's type.
    public nonisolated init(
        _ logger: Logger, level: @escaping @Sendable (DataLogType) -> Logger.Level = SwiftLogSyncLogger.level(of:)
    ) {
        self.logger = logger
        self.level = level
    }

    /// The level of a type where nothing else is said.
    @Sendable public nonisolated static func level(of type: DataLogType) -> Logger.Level {
        switch type {
        case .info: .debug
        case .analytic: .info
        case .severe: .error
        }
    }

    public func trackEvent(event: any DataSyncLogEvent) {
        let level = level(event.type)
        guard level >= logger.logLevel else { return }
        logger.log(
            level: level, "\(event.eventName)",
            metadata: (event.parameters ?? [:]).mapValues(Self.metadata), source: "StorageSync")
    }

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
